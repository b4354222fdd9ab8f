import { statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import type { DatabaseFacts } from '../database-facts.js';
import { MINUTE_MS } from '../../time/windows.js';

const PATIENCE_MS = 3_000;

/** @throws where there is none, or what is there is none */
export function sqliteFacts(path: string, table: string): DatabaseFacts {
  const files = [path, `${path}-wal`].map((each) => statSync(each, { throwIfNoEntry: false }));
  const writtenMs = Math.max(...files.map((file) => file?.mtimeMs ?? 0));
  const database = new Sqlite(path, { fileMustExist: true, timeout: PATIENCE_MS });
  try {
    const isThere = database
      .prepare(`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?`)
      .get(table);
    const version = database.prepare('SELECT sqlite_version()').pluck().get() as string;
    const migrations = isThere
      ? (database.prepare(`SELECT name FROM ${table} ORDER BY id`).pluck().all() as string[])
      : undefined;
    const latestMs = Math.max(writtenMs, isThere ? latestWindowMs(database) : 0);
    const damage = damageOf(database);
    return { engine: 'SQLite', version, damage, migrations, clockAheadMs: undefined, latestMs };
  } finally {
    database.close();
  }
}

/** Every page is read, but not compared with its indexes, which would take much longer. */
function damageOf(database: Database): string | undefined {
  const found = database.pragma('quick_check(1)', { simple: true }) as string;
  // Above what is broken in a page it says in which database that is.
  return found === 'ok' ? undefined : found.split('\n').at(-1);
}

/** When the latest minute began in which a request was counted; 0 where none was. */
function latestWindowMs(database: Database): number {
  const isThere = database
    .prepare(`SELECT 1 FROM sqlite_master WHERE name = 'rate_limit_counters'`)
    .get();
  if (isThere === undefined) return 0;
  const latest = database.prepare(
    `SELECT max(minute) FROM rate_limit_counters
      WHERE day = (SELECT max(day) FROM rate_limit_counters)`,
  );
  return Number(latest.pluck().get() ?? 0) * MINUTE_MS;
}
