// Animals and keys: bun:sqlite with one durable commit per create, or the PostgreSQL client of Bun.
import { SQL } from 'bun';
import { Database } from 'bun:sqlite';
import { COLUMNS, FIND_KEY } from '../fastify/sql.mjs';

const POOL_SIZE = 10;

export function openStorage(url) {
  return url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url);
}

function openSqlite(file) {
  const database = new Database(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'mmap_size = 268435456'])
    database.run(`PRAGMA ${pragma}`);
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

function openPostgres(url) {
  const sql = new SQL(url, { max: POOL_SIZE });
  const columns = sql.unsafe(COLUMNS);
  // Integers of 64 bits are strings.
  const pet = (row) => row && { ...row, id: Number(row.id), categoryId: Number(row.categoryId) };
  return {
    async page(status, after, count) {
      const rows =
        status === undefined
          ? await sql`SELECT ${columns} FROM pets WHERE id > ${after} ORDER BY id LIMIT ${count}`
          : await sql`SELECT ${columns} FROM pets WHERE status = ${status} AND id > ${after} ORDER BY id LIMIT ${count}`;
      return rows.map(pet);
    },
    async find(id) {
      return pet((await sql`SELECT ${columns} FROM pets WHERE id = ${id}`)[0]);
    },
    async insert(name, categoryId, status) {
      return pet(
        (
          await sql`INSERT INTO pets (name, category_id, status)
            VALUES (${name}, ${categoryId}, ${status}) RETURNING ${columns}`
        )[0],
      );
    },
    async findKey(digest) {
      const [row] = await sql.unsafe(FIND_KEY, [digest]);
      return row && { ...row, perMinute: Number(row.perMinute), perDay: Number(row.perDay) };
    },
  };
}
