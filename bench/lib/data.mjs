// Creates databases with made-up pets and keys. Each build uses its own commands, so that builds
// with different schemas can be compared.
import { writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { digestOf, mintId, mintKey } from '../../dist/src/core/keys/api-key-format.js';
import { KEYS, PETS, root, UNLIMITED } from '../settings.mjs';
import { query } from './engines.mjs';
import { runtimeEnv } from './runtime.mjs';

const ISSUE = ['keys', 'issue', '--json', '--name', 'bench', '--plan', 'enterprise'];
const LIMITS = ['--per-minute', String(UNLIMITED), '--per-day', String(UNLIMITED)];

/** Migrates and fills a database, and issues one key. */
async function fill(stage, url, build, pets) {
  const env = { ...runtimeEnv(), DATABASE_URL: url };
  for (const args of [['migrate'], ['seed', '--pets', String(pets)], [...ISSUE, ...LIMITS]]) {
    await stage.run(process.execPath, [`${build}dist/src/main.js`, ...args], { env });
  }
}

/**
 * @param {{pets?: number, keys?: number, build?: string}} options `build`: folder of another build
 * @returns {Promise<{file: string, keys: string[], keyFile: string}>}
 */
export async function prepareSqlite(stage, name, options = {}) {
  const { pets = PETS, keys = KEYS, build = root } = options;
  const file = stage.path(`${name}.db`);
  await fill(stage, `sqlite:${file}`, build, pets);
  const database = new Database(file);
  const issued = copies(database.prepare('SELECT * FROM api_keys').get(), keys);
  const columns = Object.keys(issued.rows[0]);
  const values = columns.map((column) => `@${column}`);
  const insert = database.prepare(`INSERT INTO api_keys (${columns}) VALUES (${values})`);
  database.transaction(() => issued.rows.forEach((row) => insert.run(row)))();
  database.close();
  return { file, keys: issued.keys, keyFile: writeKeys(stage, name, issued.keys) };
}

/**
 * @param {string} server the URL of PostgreSQL
 * @param {string[]} names of databases, which get equal content
 * @returns {Promise<{urls: string[], keys: string[], keyFile: string}>}
 */
export async function preparePostgres(stage, server, names, { build = root } = {}) {
  const [first, ...others] = names;
  await query(`${server}/postgres`, `CREATE DATABASE ${first}`);
  const url = `${server}/${first}`;
  await fill(stage, url, build, PETS);
  const issued = copies((await query(url, 'SELECT * FROM api_keys'))[0], KEYS);
  const insert = 'INSERT INTO api_keys SELECT * FROM json_populate_recordset(null::api_keys, $1)';
  await query(url, insert, [JSON.stringify(issued.rows)]);
  await query(url, 'VACUUM (FREEZE, ANALYZE)');
  for (const name of others) {
    await query(`${server}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${first}`);
  }
  await query(url, 'CHECKPOINT');
  const urls = names.map((name) => `${server}/${name}`);
  return { urls, keys: issued.keys, keyFile: writeKeys(stage, first, issued.keys) };
}

/** Copies the row of the issued key: to issue each key by the command would take a second. */
function copies(row, count) {
  const keys = Array.from({ length: count }, () => mintKey());
  const rows = keys.map((key) => {
    const id = mintId('key');
    // Keys that have just changed are read again by each poll.
    const changed_at = row.changed_at - 3_600_000;
    return {
      ...row,
      id,
      client_id: id,
      digest: digestOf(key),
      changed_at,
      last_four: key.slice(-4),
    };
  });
  return { keys, rows };
}

/** Writes the file of keys for the load generator. */
function writeKeys(stage, name, keys) {
  const file = stage.path(`keys-of-${name}.txt`);
  writeFileSync(file, keys.join('\n'));
  return file;
}
