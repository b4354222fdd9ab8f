// Databases with made-up animals and keys. Both are the service's own work: its migrations, its `seed`.
import { writeFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { run } from './children.mjs';
import { query } from './engines.mjs';
import { KEYS, root, UNLIMITED } from './settings.mjs';

const COLUMNS = `id, client_id, name, digest, last_four, plan, scopes, per_minute, per_day, created_at, changed_at`;
const CONSTANTS = `'enterprise', 'pets:read pets:write', ${UNLIMITED}, ${UNLIMITED}, 0, 0`;

async function petstore(stage, url, args, build = root) {
  const env = { PATH: process.env.PATH, DATABASE_URL: url };
  await run(process.execPath, [`${build}dist/src/main.js`, ...args], { cwd: stage.directory, env });
}

/** Brings a database to the schema of this build. */
export function migrate(stage, url) {
  return petstore(stage, url, ['migrate']);
}

/**
 * @param {{animals: number, keys?: number, build?: string}} size `build`: of another commit
 * @returns {Promise<{file: string, keys: string[]}>}
 */
export async function prepareSqlite(stage, name, { animals, keys = KEYS, build }) {
  const file = stage.path(`${name}.db`);
  await petstore(stage, `sqlite:${file}`, ['seed', '--pets', String(animals)], build);
  const database = new Database(file);
  const insert = database.prepare(
    `INSERT INTO api_keys (${COLUMNS}) VALUES (?, ?, 'bench', ?, ?, ${CONSTANTS})`,
  );
  const minted = await mint(keys);
  database.transaction(() => {
    for (const { id, digest, key } of minted) insert.run(id, id, digest, key.slice(-4));
  })();
  database.close();
  return { file, keys: minted.map(({ key }) => key) };
}

/** @returns {Promise<{urls: string[], keys: string[]}>} as many databases as asked for, all with the same in them */
export async function preparePostgres(stage, server, { animals, databases }) {
  const [first, ...others] = databases;
  await query(`${server}/postgres`, `CREATE DATABASE ${first}`);
  const url = `${server}/${first}`;
  await migrate(stage, url);
  await petstore(stage, url, ['seed', '--pets', String(animals)]);
  const minted = await mint(KEYS);
  await query(
    url,
    `INSERT INTO api_keys (${COLUMNS})
      SELECT id, id, 'bench', digest, right(key, 4), ${CONSTANTS}
      FROM unnest($1::text[], $2::text[], $3::text[]) AS minted (id, digest, key)`,
    ['id', 'digest', 'key'].map((member) => minted.map((each) => each[member])),
  );
  await query(url, 'VACUUM (FREEZE, ANALYZE)');
  for (const name of others)
    await query(`${server}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${first}`);
  await query(url, 'CHECKPOINT');
  return { urls: databases.map((name) => `${server}/${name}`), keys: minted.map(({ key }) => key) };
}

async function mint(count) {
  const { mintKey, mintId } = await import(`${root}dist/src/keys/api-key-format.js`);
  const { digestOf } = await import(`${root}dist/src/keys/caller-table.js`);
  return Array.from({ length: count }, () => {
    const key = mintKey();
    return { key, digest: digestOf(key), id: mintId('key') };
  });
}

/** The file of keys that the load generator reads. */
export function writeKeys(stage, name, keys) {
  const file = stage.path(`${name}.txt`);
  writeFileSync(file, keys.join('\n'));
  return file;
}
