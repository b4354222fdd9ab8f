import Sqlite, { type Database, type Options, type Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';

/**
 * While another process opens or recovers the database. Later, writers never wait within SQLite.
 */
const OPENING_TIMEOUT_MS = 2_000;
const MAX_STATEMENTS = 200;

/**
 * A connection that syncs every commit, so that it survives a power failure, and keeps its prepared
 * statements by their text. The file is not mapped into memory: a mapped file that is truncated
 * kills the process (SIGBUS).
 */
export class DurableDatabase extends Sqlite {
  private readonly statements = new LRUCache<string, Statement>({ max: MAX_STATEMENTS });

  constructor(path: string, options?: Options) {
    super(path, { ...options, timeout: OPENING_TIMEOUT_MS });
    this.pragma('journal_mode = WAL');
    this.pragma('synchronous = FULL');
    this.pragma('busy_timeout = 0');
  }

  override prepare = ((source: string): Statement => {
    const known = this.statements.get(source);
    if (known !== undefined) return known;
    const statement = super.prepare(source);
    this.statements.set(source, statement);
    return statement;
  }) as Database['prepare'];
}
