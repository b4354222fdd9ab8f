// Animals and keys: bun:sqlite with one durable commit per create, or the PostgreSQL client of Bun.
import { SQL } from 'bun';
import { Database } from 'bun:sqlite';
import { COLUMNS, FIND_KEY, sqliteStorage } from '../fastify/sql.mjs';

const POOL_SIZE = 10;

export function openStorage(url) {
  return url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openPostgres(url);
}

function openSqlite(file) {
  const database = new Database(file);
  for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'mmap_size = 268435456'])
    database.run(`PRAGMA ${pragma}`);
  return sqliteStorage(database);
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
