import Sqlite, { type Database, type Options } from 'better-sqlite3';

/**
 * While another process opens or recovers the database. Later, writers never wait within SQLite.
 */
const OPENING_TIMEOUT_MS = 2_000;

/**
 * A connection that syncs every commit, so that it survives a power failure. The file is not mapped
 * into memory: a mapped file that is truncated kills the process (SIGBUS).
 */
export class DurableDatabase extends Sqlite {
  constructor(path: string, options?: Options) {
    super(path, { ...options, timeout: OPENING_TIMEOUT_MS });
    this.pragma('journal_mode = WAL');
    this.pragma('synchronous = FULL');
    this.pragma('busy_timeout = 0');
  }
}

/**
 * A connection of TypeORM, by its option `driver`. An INTEGER beyond 2^53 - 1 is read as a BigInt,
 * because a Number would round it; any other as a Number, which TypeORM expects of its own tables.
 */
export class ExactDatabase extends DurableDatabase {
  override prepare = ((source: string) => {
    const statement = super.prepare(source);
    if (!statement.reader) return statement;
    const all = statement.safeIntegers(true).all.bind(statement);
    statement.all = (...parameters) => {
      const rows = all(...parameters) as Record<string, unknown>[];
      for (const row of rows) for (const column in row) row[column] = narrow(row[column]);
      return rows;
    };
    return statement;
  }) as Database['prepare'];
}

function narrow(value: unknown): unknown {
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
