// Animals and keys in PostgreSQL: named prepared statements on a pool as large as that of the service.
import pg from 'pg';
import { COLUMNS, FIND_KEY } from './sql.mjs';

const POOL_SIZE = 10;
const INT8 = 20;
pg.types.setTypeParser(INT8, Number);

/** @param url of a database with the schema in place */
export function openPostgres(url) {
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  const prepare = (name, text) => (values) => pool.query({ name, text, values });

  const page = prepare('page', `SELECT ${COLUMNS} FROM pets WHERE id > $1 ORDER BY id LIMIT $2`);
  const pageOfStatus = prepare(
    'page-of-status',
    `SELECT ${COLUMNS} FROM pets WHERE status = $1 AND id > $2 ORDER BY id LIMIT $3`,
  );
  const find = prepare('find', `SELECT ${COLUMNS} FROM pets WHERE id = $1`);
  const insert = prepare(
    'insert',
    `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
  );
  const findKey = prepare('find-key', FIND_KEY);
  const rows = (result) => result.rows;
  const row = (result) => result.rows[0];
  return {
    page: (status, after, count) =>
      (status === undefined ? page([after, count]) : pageOfStatus([status, after, count])).then(
        rows,
      ),
    find: (id) => find([id]).then(row),
    insert: (name, categoryId, status) => insert([name, categoryId, status]).then(row),
    findKey: (digest) => findKey([digest]).then(row),
  };
}
