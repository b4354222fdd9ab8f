import Sqlite, { type Database, type Statement as Prepared } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { QueryFailedError } from 'typeorm';
import type { Parameter, Statement } from '../database.js';
import { databaseError } from '../database-error.js';

/**
 * Only while opening: another process may be recovering the file. Afterwards, `SqliteWriter`
 * retries.
 */
const OPENING_TIMEOUT_MS = 2_000;
const MAX_STATEMENTS = 200;

/**
 * A connection that keeps its prepared statements. It syncs every commit, so that it survives a
 * power failure, unless `SqliteWriter` turns that off for a group in the background. The file is
 * not mapped into memory: a mapped file that is truncated kills the process (SIGBUS).
 */
export class SqliteConnection extends Sqlite {
  private readonly byText = new LRUCache<string, Prepared>({
    max: MAX_STATEMENTS,
    memoMethod: (source) => super.prepare(source),
  });
  private readonly prepared = new Map<Statement, Prepared>();

  constructor(path: string) {
    super(path, { timeout: OPENING_TIMEOUT_MS });
    this.pragma('journal_mode = WAL');
    this.pragma('synchronous = FULL');
    this.pragma('busy_timeout = 0');
  }

  override prepare = ((source: string) => this.byText.memo(source)) as Database['prepare'];

  /**
   * Runs a statement of the `Database` port, prepared at its first use.
   * @throws {QueryFailedError} like TypeORM, also for a text that PostgreSQL cannot store
   */
  run(statement: Statement, parameters: Parameter[]): unknown[] {
    assertStorable(statement.sqlite, parameters);
    try {
      const prepared = this.preparedOf(statement);
      if (prepared.reader) return prepared.all(parameters);
      prepared.run(parameters);
      return [];
    } catch (error) {
      throw new QueryFailedError(statement.sqlite, [], error as Error);
    }
  }

  private preparedOf(statement: Statement): Prepared {
    let prepared = this.prepared.get(statement);
    if (prepared === undefined) {
      // better-sqlite3 binds an array to anonymous parameters only.
      prepared = super.prepare(statement.sqlite.replace(/\$\w+/g, '?'));
      if (statement.isJson) prepared.pluck();
      this.prepared.set(statement, prepared);
    }
    return prepared;
  }
}

/** @throws {QueryFailedError} for a text that PostgreSQL cannot store */
export function assertStorable(sql: string, parameters: unknown): void {
  const values: unknown[] = Array.isArray(parameters) ? parameters : [];
  if (values.some((value) => typeof value === 'string' && value.includes('\0'))) {
    throw new QueryFailedError(sql, [], databaseError('22021', 'a text contains U+0000'));
  }
}
