// Starts PostgreSQL and Redis on the core of the load generator.
import { chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { OTHER_CORE } from '../settings.mjs';
import { findProgram } from './machine.mjs';
import { freePort } from './stage.mjs';

/**
 * With its default settings: every commit is synced to disk.
 * @returns {Promise<{url: string, pid: number}>} `url`: without a database
 */
export async function startPostgres(stage) {
  const initdb = findProgram('initdb');
  const account = await unprivileged(stage);
  const directory = stage.path('postgres');
  mkdirSync(directory);
  if (account.uid !== undefined) chownSync(directory, account.uid, account.gid);
  const data = join(directory, 'data');
  const options = ['--auth=trust', '--username=petstore', '--encoding=UTF8', '--no-locale'];
  await stage.run(initdb, ['-D', data, ...options], { ...account, cwd: directory });
  const port = await freePort();
  const url = `postgres://petstore@127.0.0.1:${port}`;
  const { pid } = await stage.start({
    name: 'PostgreSQL',
    command: join(dirname(initdb), 'postgres'),
    args: ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', directory],
    port,
    core: OTHER_CORE,
    account,
    stopSignal: 'SIGINT',
    isReady: () => query(`${url}/postgres`, 'SELECT 1').then(() => true),
  });
  return { url, pid };
}

/** Without persistence. @returns {Promise<{url: string, pid: number}>} */
export async function startRedis(stage) {
  const port = await freePort();
  const { pid } = await stage.start({
    name: 'Redis',
    command: findProgram('redis-server'),
    args: ['--port', String(port), '--bind', '127.0.0.1', '--save', ''],
    port,
    core: OTHER_CORE,
    isReady: () => stage.run('redis-cli', ['-p', String(port), 'ping']).then(() => true),
  });
  return { url: `redis://127.0.0.1:${port}`, pid };
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

/** PostgreSQL does not run as root. */
async function unprivileged(stage) {
  if (process.getuid() !== 0) return {};
  const id = async (flag) => Number(await stage.run('id', [flag, 'nobody']));
  return { uid: await id('-u'), gid: await id('-g') };
}
