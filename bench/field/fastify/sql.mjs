/** The columns of an animal, named as in the API. */
export const COLUMNS = 'id, name, category_id AS "categoryId", status';

export const FIND_KEY = `SELECT id AS "keyId", client_id AS subject,
  per_minute AS "perMinute", per_day AS "perDay" FROM api_keys WHERE digest = $1`;

/** @param database of better-sqlite3 or bun:sqlite, with the schema in place */
export function sqliteStorage(database) {
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
    find: (id) => find.get(id) ?? undefined,
    insert: (name, categoryId, status) => insert.get(name, categoryId, status),
    findKey: (digest) => findKey.get(digest) ?? undefined,
  };
}
