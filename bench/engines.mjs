// Starts PostgreSQL on the core of the load generator, because a server under test has its core for itself.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { findProgram } from './machine.mjs';
import { OTHER_CORE } from './settings.mjs';
import { freePort } from './stage.mjs';

/** Default settings: every commit is synced to disk. @returns {Promise<string>} its URL, without a database */
export async function startPostgres(stage) {
  const initdb = findProgram('initdb');
  const account = unprivileged();
  const directory = stage.path('postgres');
  mkdirSync(directory);
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid);
  const data = join(directory, 'data');
  const options = ['--auth=trust', '--username=petstore', '--encoding=UTF8', '--no-locale'];
  execFileSync(initdb, ['-D', data, ...options], { ...account, cwd: directory, stdio: 'pipe' });

  const port = await freePort();
  const url = `postgres://petstore@127.0.0.1:${port}`;
  await stage.start({
    name: 'PostgreSQL',
    command: join(dirname(initdb), 'postgres'),
    args: ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory],
    port,
    core: OTHER_CORE,
    account,
    stopSignal: 'SIGINT',
    isReady: () => query(`${url}/postgres`, 'SELECT 1').then(() => true),
  });
  return url;
}

/** Runs SQL on a new connection; resolves to the rows. */
export async function query(url, text, values = []) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** PostgreSQL does not run as root: the account of its package is used then. */
function unprivileged() {
  if (process.getuid() !== 0) return {};
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
