// Pets and keys in SQLite, with one durable commit per create, or in PostgreSQL.
import pg from 'pg';

/** As many connections as the service has. */
const POOL_SIZE = 10;
const INT8 = 20;
const COLUMNS = 'id, name, category_id AS "categoryId", status';

const SQL = {
  page: `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`,
  find: `SELECT ${COLUMNS} FROM pets WHERE id = $1`,
  insert: `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
  findKey: `SELECT id AS "keyId", client_id AS subject, per_minute AS "perMinute",
    per_day AS "perDay" FROM api_keys WHERE digest = $1`,
};

/** @param url of a database with the schema in place */
export async function openStorage(url) {
  return url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url);
}

/** The SQLite of Bun has the methods of better-sqlite3. */
async function openSqlite(file) {
  const driver = process.versions.bun === undefined ? 'better-sqlite3' : 'bun:sqlite';
  const { default: Database } = await import(driver);
  const database = new Database(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'mmap_size = 268435456']) {
    database.exec(`PRAGMA ${pragma}`);
  }
  const prepare = (name) => database.prepare(SQL[name].replaceAll(/\$\d/g, '?'));
  const [page, find, insert, findKey] = ['page', 'find', 'insert', 'findKey'].map(prepare);
  return {
    page: (after, count) => page.all(after, count),
    find: (id) => find.get(id),
    insert: (name, categoryId, status) => insert.get(name, categoryId, status),
    findKey: (digest) => findKey.get(digest),
  };
}

function openPostgres(url) {
  pg.types.setTypeParser(INT8, Number);
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  const rows = (name, ...values) =>
    pool.query({ name, text: SQL[name], values }).then((result) => result.rows);
  const row = (name, ...values) => rows(name, ...values).then(([first]) => first);
  return {
    page: (after, count) => rows('page', after, count),
    find: (id) => row('find', id),
    insert: (name, categoryId, status) => row('insert', name, categoryId, status),
    findKey: (digest) => row('findKey', digest),
  };
}
