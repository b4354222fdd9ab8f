import Sqlite from 'better-sqlite3';
import type { DatabaseFacts } from '../database-facts.js';

const PATIENCE_MS = 3_000;

/** @throws where there is none, or what is there is none */
export function sqliteFacts(path: string, table: string): DatabaseFacts {
  const database = new Sqlite(path, { fileMustExist: true, timeout: PATIENCE_MS });
  try {
    const isThere = database
      .prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`)
      .get(table);
    const version = database.prepare('SELECT sqlite_version()').pluck().get() as string;
    const migrations = isThere
      ? (database.prepare(`SELECT name FROM ${table} ORDER BY id`).pluck().all() as string[])
      : undefined;
    return { engine: 'SQLite', version, migrations, clockAheadMs: undefined };
  } finally {
    database.close();
  }
}
