// Animals and keys in SQLite: prepared statements on one connection, one durable commit per create.
import Database from 'better-sqlite3';
import { sqliteStorage } from './sql.mjs';

export function openSqlite(file) {
  const database = new Database(file);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('mmap_size = 268435456');
  return sqliteStorage(database);
}
