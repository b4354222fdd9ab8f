// Creates databases with made-up animals and keys. Each build uses its own commands, so that builds with different
// schemas can be compared.
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import Database from 'better-sqlite3';
import { run } from './children.mjs';
import { query } from './engines.mjs';
import { KEYS, root, UNLIMITED } from './settings.mjs';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ISSUE = ['keys', 'issue', '--json', '--name', 'bench', '--plan', 'enterprise'];
const LIMITS = ['--per-minute', String(UNLIMITED), '--per-day', String(UNLIMITED)];

function petstore(stage, url, build, args) {
  const env = { PATH: process.env.PATH, DATABASE_URL: url };
  return run(process.execPath, [`${build}dist/src/main.js`, ...args], {
    cwd: stage.directory,
    env,
  });
}

/** Migrates and fills a database, and issues one key. */
async function fill(stage, url, build, animals) {
  await petstore(stage, url, build, ['migrate']);
  await petstore(stage, url, build, ['seed', '--pets', String(animals)]);
  await petstore(stage, url, build, [...ISSUE, ...LIMITS]);
}

/**
 * @param {{animals: number, keys?: number, build?: string}} size `build`: the folder of another build
 * @returns {Promise<{file: string, keys: string[]}>}
 */
export async function prepareSqlite(stage, name, { animals, keys = KEYS, build = root }) {
  const file = stage.path(`${name}.db`);
  await fill(stage, `sqlite:${file}`, build, animals);
  const database = new Database(file);
  const issued = copies(database.prepare('SELECT * FROM api_keys').get(), keys);
  const columns = Object.keys(issued.rows[0]);
  const insert = database.prepare(
    `INSERT INTO api_keys (${columns}) VALUES (${columns.map((column) => `@${column}`)})`,
  );
  database.transaction(() => issued.rows.forEach((row) => insert.run(row)))();
  database.close();
  return { file, keys: issued.keys };
}

/**
 * @param {{animals: number, databases: string[], build?: string}} options
 * @returns {Promise<{urls: string[], keys: string[]}>} one per name, with equal content
 */
export async function preparePostgres(stage, server, { animals, databases, build = root }) {
  const [first, ...others] = databases;
  await query(`${server}/postgres`, `CREATE DATABASE ${first}`);
  const url = `${server}/${first}`;
  await fill(stage, url, build, animals);
  const issued = copies((await query(url, 'SELECT * FROM api_keys'))[0], KEYS);
  await query(
    url,
    'INSERT INTO api_keys SELECT * FROM json_populate_recordset(null::api_keys, $1)',
    [JSON.stringify(issued.rows)],
  );
  await query(url, 'VACUUM (FREEZE, ANALYZE)');
  for (const name of others)
    await query(`${server}/postgres`, `CREATE DATABASE ${name} TEMPLATE ${first}`);
  await query(url, 'CHECKPOINT');
  return { urls: databases.map((name) => `${server}/${name}`), keys: issued.keys };
}

/** Copies the row of a key that the build has issued: issuing each key by the command would take a second. */
function copies(row, count) {
  const keys = Array.from({ length: count }, mintKey);
  const rows = keys.map((key) => {
    const id = `key_${base62(randomBytes(12), 17)}`;
    const digest = createHash('sha256').update(key).digest('base64url');
    // Keys that have just changed are read again by each poll.
    const changed_at = row.changed_at - 3_600_000;
    return { ...row, id, client_id: id, digest, changed_at, last_four: key.slice(-4) };
  });
  return { keys, rows };
}

/** A key in the format of the service: prefix, 256 random bits in base62, CRC-32 of both. */
function mintKey() {
  const body = `psk_${base62(randomBytes(32), 43)}`;
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(body));
  return body + base62(checksum, 6);
}

function base62(bytes, length) {
  let text = '';
  for (let rest = BigInt(`0x${bytes.toString('hex')}`); rest > 0n; rest /= 62n)
    text = DIGITS[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}

/** Writes the file of keys for the load generator. */
export function writeKeys(stage, name, keys) {
  const file = stage.path(`${name}.txt`);
  writeFileSync(file, keys.join('\n'));
  return file;
}
