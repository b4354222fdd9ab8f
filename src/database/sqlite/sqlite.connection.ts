import Sqlite, { type Database, type Options, type Statement } from 'better-sqlite3';
import { TransactionControlError } from '../transaction-control.js';

const SYNCHRONOUS_FULL = 2;
/** While another process opens or recovers the database. Writers never wait in SQLite, but for their turn. */
const OPENING_TIMEOUT_MS = 2_000;
const MAX_PREPARED = 100;

/** A connection that writes: an acknowledged write survives a power cut, for every commit is synced. */
export function openForWriting(path: string): Database {
  return makeDurable(new Sqlite(path, { timeout: OPENING_TIMEOUT_MS }));
}

/**
 * A further connection to a database that another one has opened for writing. It maps nothing into memory: with each
 * commit SQLite forgets what it had mapped, as it does what it had cached, and to touch a page anew costs a virtual
 * machine more than to read it again. And what is cut off from a mapped file ends the process (SIGBUS).
 */
export function openForReading(path: string): Database {
  const database = new Sqlite(path, { fileMustExist: true });
  database.pragma('query_only = ON');
  return database;
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
 * A connection of TypeORM, by its option `driver`. An INTEGER beyond 2^53 must not be rounded: it is read as
 * a BigInt, any other as a Number, which is what TypeORM expects of generated ids and of its own tables.
 */
export class ExactDatabase extends Sqlite {
  private readonly prepared = new Map<string, Statement>();

  constructor(path: string, options?: Options) {
    super(path, { ...options, timeout: OPENING_TIMEOUT_MS });
    makeDurable(this);
  }

  /** Prepared once, whichever query runner asks. */
  override prepare = ((source: string): Statement => {
    let statement = this.prepared.get(source);
    if (statement === undefined) {
      statement = this.beginningNone(exactIntegers(super.prepare(source)));
      this.prepared.set(source, statement);
      if (this.prepared.size > MAX_PREPARED) {
        this.prepared.delete(this.prepared.keys().next().value!);
      }
    }
    return statement;
  }) as Database['prepare'];

  /** Transactions are begun by `exec`: what is prepared is of whoever shares the connection. */
  private beginningNone(statement: Statement): Statement {
    const run = statement.run.bind(statement);
    statement.run = (...parameters) => {
      const wasWithinOne = this.inTransaction;
      const result = run(...parameters);
      if (wasWithinOne || !this.inTransaction) return result;
      this.exec('ROLLBACK');
      throw new TransactionControlError(statement.source);
    };
    return statement;
  }
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
