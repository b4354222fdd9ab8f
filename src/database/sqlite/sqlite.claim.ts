import { randomInt } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import Sqlite, { type Database } from 'better-sqlite3';
import { isBusy } from '../outage.js';
import { openForWriting } from './sqlite.connection.js';
import { SqliteFile } from './sqlite.file.js';

/** Of the file beside a database that says who serves it. */
export const SERVER_SUFFIX = '-server';
/** Whoever is refused reads who has it, in an instant. */
const PATIENCE_MS = 500;
/** The command line may be writing. */
const STAMPING_TIMEOUT_MS = 3_000;
const MAX_STAMP = 2 ** 31;

interface Server {
  pid: number;
  host: string;
  since: string;
}

/**
 * That this process serves a database: one at a time may. It is a lock of the operating system on a file
 * beside the database, which ends with the process, however that ends; in the database itself every backup
 * would carry it.
 */
export class SqliteClaim {
  private constructor(private readonly database: Database) {}

  /** @throws {DatabaseServedError} where another one serves it; or where it is no database */
  static take(path: string): SqliteClaim {
    new SqliteFile(path).assertDatabase();
    const claim = SqliteClaim.hold(path);
    try {
      stamp(path);
      return claim;
    } catch (error) {
      claim.release();
      throw error;
    }
  }

  /**
   * For whoever replaces the database, which may be broken: it is not opened.
   * @throws {DatabaseServedError} where somebody serves it
   */
  static hold(path: string): SqliteClaim {
    new SqliteFile(path).keepToOwner();
    const beside = new SqliteFile(realpathSync(path) + SERVER_SUFFIX);
    beside.keepToOwner();
    const database = new Sqlite(beside.path, { timeout: PATIENCE_MS });
    try {
      database.pragma('journal_mode = MEMORY');
      begin(database, path);
      database.exec('CREATE TABLE IF NOT EXISTS server (pid integer, host text, since text)');
      database.exec('DELETE FROM server');
      database
        .prepare('INSERT INTO server VALUES (?, ?, ?)')
        .run(process.pid, hostname(), new Date().toISOString());
      database.exec('COMMIT');
      // Held for good: others may read who it is, and no more.
      begin(database, path);
      return new SqliteClaim(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  release(): void {
    this.database.close();
  }
}

/** Tells the file as this server has it from any other, an older copy of it too. */
function stamp(path: string): void {
  const database = openForWriting(path);
  try {
    database.pragma(`busy_timeout = ${STAMPING_TIMEOUT_MS}`);
    database.pragma(`user_version = ${randomInt(1, MAX_STAMP)}`);
    // Into the file itself, where nobody reads what is there now, as a backup does: it is not waited for.
    database.pragma('busy_timeout = 0');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    database.close();
  }
}

function begin(database: Database, path: string): void {
  try {
    database.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new DatabaseServedError(path, serverOf(database));
  }
}

/** Undefined while it is just being written down. */
function serverOf(database: Database): Server | undefined {
  try {
    return database.prepare('SELECT * FROM server').get() as Server | undefined;
  } catch {
    return undefined;
  }
}

/** One database file belongs to one server. */
export class DatabaseServedError extends Error {
  constructor(path: string, server: Server | undefined) {
    const who = server
      ? `process ${server.pid} on ${server.host}, since ${server.since}`
      : 'another process';
    super(
      `The database ${path} is served already, by ${who}: ` +
        'stop that server, or set DATABASE_URL to another file',
    );
  }
}
