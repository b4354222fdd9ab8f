import { chmodSync, closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';

export const OWNER_ONLY = 0o600;
/** The bits of a file's mode that let anybody but its owner in. */
export const OTHERS = 0o077;
const STAMP_OFFSET = 60;
/** Of what SQLite makes beside a database while it is used, with the mode of that. */
export const LOG_SUFFIXES: readonly string[] = ['-wal', '-shm'];

/**
 * The file of a database, as it was opened. A file that is moved or removed stays open and takes writes,
 * which whoever opens the path next will not find: SQLite itself notices only without a WAL.
 */
export class SqliteFile {
  private identity: string | undefined;
  private descriptor: number | undefined;
  private stamp: number | undefined;
  /** That of the server before, which the file has until the log is brought into it. */
  private formerStamp: number | undefined;
  private overwritten = false;

  /** @param path `:memory:` leads to no file, now as ever */
  constructor(readonly path: string) {}

  /**
   * Nobody else's file is to be changed, nor is anything to be made beside it, for a path that is wrong.
   * @throws {NotAFile | NotADatabase} where it leads to what is none
   */
  assertDatabase(): void {
    if (this.isThere() && !isDatabase(this.path)) {
      throw new NotADatabase(this.path);
    }
  }

  /** Makes what is not there, for this user alone, and takes from all others what they can read. */
  keepToOwner(): void {
    if (this.path === ':memory:') return;
    const isThere = this.isThere();
    // Absolute: Node never ends making a relative directory in a working directory that was removed.
    mkdirSync(dirname(resolve(this.path)), { recursive: true, mode: 0o700 });
    if (!isThere) closeSync(openSync(this.path, 'a', OWNER_ONLY));
    for (const suffix of ['', ...LOG_SUFFIXES]) closeToOthers(this.path + suffix);
    for (const suffix of LOG_SUFFIXES) openToOwner(this.path + suffix, this.path);
  }

  /** @throws {NotAFile} */
  isThere(): boolean {
    const status = statSync(this.path, { throwIfNoEntry: false });
    // A directory is all that is in it: nobody could pass it any more.
    if (status?.isFile() === false) throw new NotAFile(this.path);
    return status !== undefined;
  }

  /**
   * From now on the path has to lead to the file that it leads to now.
   * @param stamp as SQLite reads it, of its log where the file does not have it yet
   */
  opened(stamp: number): void {
    this.identity = identityOf(this.path);
    if (this.identity === undefined) return;
    // Open as long as the connections are: to close it would give up this process' locks on the file.
    this.descriptor = openSync(this.path, 'r');
    this.stamp = stamp;
    this.formerStamp = stampIn(this.descriptor);
  }

  closed(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }

  /** Whether its bytes are another's: nothing that is open on it can be trusted any more. */
  get isOverwritten(): boolean {
    return this.overwritten;
  }

  /**
   * For a server, whose stamp the file has: see `SqliteClaim`.
   * @throws {DatabaseOverwritten} where it has another one, now and ever after
   */
  assertOurs(): void {
    this.overwritten ||= this.descriptor !== undefined && !this.hasStamp(this.descriptor);
    this.assertInPlace();
  }

  private hasStamp(descriptor: number): boolean {
    const stamp = stampIn(descriptor);
    if (stamp === this.stamp) this.formerStamp = stamp;
    return stamp === this.formerStamp;
  }

  /** @throws {DatabaseMoved} where the path no longer leads to the file that is open */
  assertInPlace(): void {
    if (this.overwritten) throw new DatabaseOverwritten();
    if (identityOf(this.path) !== this.identity) throw new DatabaseMoved();
  }
}

class NotAFile extends Error {
  constructor(path: string) {
    super(`${path} is not a file: set DATABASE_URL to one, such as sqlite:./data/petstore.db`);
  }
}

class NotADatabase extends Error {
  /** What SQLite calls it. */
  readonly code = 'SQLITE_NOTADB';

  constructor(path: string) {
    super(`${path} is not an SQLite database`);
  }
}

class DatabaseMoved extends Error {
  /** What SQLite calls it. */
  readonly code = 'SQLITE_READONLY_DBMOVED';

  constructor() {
    super('The database file was moved, removed or replaced: put it back, or restart the server');
  }
}

class DatabaseOverwritten extends Error {
  readonly code = 'SQLITE_NOTADB';

  constructor() {
    super(
      'The database file was overwritten while it was open: stop the server, restore the file from a ' +
        'backup and remove those ending in -wal and -shm, then start again',
    );
  }
}

/** SQLite itself looks: to open and close the file in another way would give up this process' locks on it. */
function isDatabase(path: string): boolean {
  try {
    const database = new Sqlite(path, { fileMustExist: true });
    try {
      database.pragma('schema_version');
    } finally {
      database.close();
    }
    return true;
  } catch (error) {
    // Whatever else is wrong with it is told by whoever uses it.
    return (error as { code?: unknown }).code !== 'SQLITE_NOTADB';
  }
}

/** The number that SQLite keeps for applications in the header of a database (`PRAGMA user_version`). */
function stampIn(descriptor: number): number {
  const bytes = Buffer.alloc(4);
  readSync(descriptor, bytes, 0, bytes.length, STAMP_OFFSET);
  return bytes.readInt32BE();
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path);
    return `${dev}/${ino}`;
  } catch {
    return undefined;
  }
}

function closeToOthers(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile() || (found.mode & OTHERS) === 0) return;
  try {
    chmodSync(path, OWNER_ONLY);
  } catch {
    // Another's file, or a file system without modes: what it is to others is not ours to say.
  }
}

/** What SQLite made beside a database that could not be written then still has that mode once it can. */
function openToOwner(log: string, database: string): void {
  const found = statSync(log, { throwIfNoEntry: false });
  if (!found?.isFile() || isForOwner(found.mode) || !isForOwner(statSync(database).mode)) return;
  try {
    chmodSync(log, OWNER_ONLY);
  } catch {
    // Another's file: whoever writes it is told.
  }
}

function isForOwner(mode: number): boolean {
  return (mode & OWNER_ONLY) === OWNER_ONLY;
}

/**
 * Lets the writers of this process at the database one after the other, in the order in which they came:
 * two connections that try for SQLite's lock by themselves starve each other, or stand still for it.
 */
export class WriteGate {
  private readonly waiting: (() => void)[] = [];
  private isTaken = false;
  private readonly listeners: (() => void)[] = [];

  /** Calls `listener` whenever a writer is done, before the next one comes. */
  onLeave(listener: () => void): void {
    this.listeners.push(listener);
  }

  get state(): { isTaken: boolean; waiting: number } {
    return { isTaken: this.isTaken, waiting: this.waiting.length };
  }

  /** Whether it was free; it is then taken. */
  tryEnter(): boolean {
    if (this.isTaken) return false;
    return (this.isTaken = true);
  }

  /** Resolves once it is this one's turn. */
  async enter(): Promise<void> {
    if (!this.tryEnter()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  leave(): void {
    for (const listener of this.listeners) listener();
    const next = this.waiting.shift();
    if (next === undefined) this.isTaken = false;
    else next();
  }
}
