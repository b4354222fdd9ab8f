// Animals and keys in SQLite: prepared statements on one connection, one durable commit per create.
import Database from 'better-sqlite3';
import { FIND_KEY, COLUMNS } from './sql.mjs';

/** @param file with the schema in place */
export function openSqlite(file) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('mmap_size = 268435456');
  const prepare = (text) => database.prepare(text.replace(/\$\d+/g, '?'));

  const page = prepare(`SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`);
  const pageOfStatus = prepare(
    `SELECT ${COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
  );
  const find = prepare(`SELECT ${COLUMNS} FROM pets WHERE id = $1`);
  const insert = prepare(
    `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
  );
  const findKey = prepare(FIND_KEY);
  return {
    page: (status, after, count) =>
      status === undefined ? page.all(after, count) : pageOfStatus.all(status, after, count),
    find: (id) => find.get(id),
    insert: (name, categoryId, status) => insert.get(name, categoryId, status),
    findKey: (digest) => findKey.get(digest),
  };
}
