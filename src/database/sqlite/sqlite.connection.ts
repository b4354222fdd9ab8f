import { LRUCache } from 'lru-cache';
import Sqlite, { type Database, type Options, type Statement } from 'better-sqlite3';

const SYNCHRONOUS_FULL = 2;
/** While another process opens or recovers the database. Later, writers never wait within SQLite. */
const OPENING_TIMEOUT_MS = 2_000;
const MAX_PREPARED = 100;

/**
 * Opens a connection. Every commit is synced, so that it survives a power failure. The file is not mapped into memory: a
 * mapped file that is truncated kills the process (SIGBUS).
 */
export function openDurably(path: string): Database {
  return makeDurable(new Sqlite(path, { timeout: OPENING_TIMEOUT_MS }));
}

export function makeDurable(database: Database): Database {
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  if (database.pragma('synchronous', { simple: true }) !== SYNCHRONOUS_FULL) {
    throw new Error('SQLite does not sync its commits: PRAGMA synchronous=FULL is not in force');
  }
  database.pragma('busy_timeout = 0');
  return database;
}

/**
 * A connection of TypeORM, by its option `driver`. An INTEGER beyond 2^53 is read as a BigInt, because a Number would
 * round it; any other as a Number, which TypeORM expects of generated ids and of its own tables.
 */
export class ExactDatabase extends Sqlite {
  private readonly prepared = new LRUCache<string, Statement>({
    max: MAX_PREPARED,
    memoMethod: (source) => exactIntegers(super.prepare(source)),
  });

  constructor(path: string, options?: Options) {
    super(path, { ...options, timeout: OPENING_TIMEOUT_MS });
    makeDurable(this);
  }

  override prepare = ((source: string) => this.prepared.memo(source)) as Database['prepare'];
}

function exactIntegers(statement: Statement): Statement {
  statement.safeIntegers(true);
  if (statement.reader) {
    const all = statement.all.bind(statement);
    statement.all = (...parameters) => {
      const rows = all(...parameters) as Record<string, unknown>[];
      for (const row of rows) for (const column in row) row[column] = narrow(row[column]);
      return rows;
    };
  } else {
    const run = statement.run.bind(statement);
    statement.run = (...parameters) => {
      const { changes, lastInsertRowid } = run(...parameters);
      return { changes, lastInsertRowid: narrow(lastInsertRowid) as number | bigint };
    };
  }
  return statement;
}

function narrow(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
