import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { SERVER_SUFFIX } from './sqlite.claim.js';
import { LOG_SUFFIXES, OWNER_ONLY } from './sqlite.file.js';

/** Some 40 MB: the bar of progress moves. */
const PAGES_AT_ONCE = 10_000;
/** Who checkpoints or recovers the database is done with it soon. */
const PATIENCE_MS = 5_000;
/** What SQLite may have made beside a file. */
const COMPANIONS = ['-journal', ...LOG_SUFFIXES];
/** What every SQLite file begins with, and where it says how it is written. */
const MAGIC = 'SQLite format 3\0';
const WRITE_VERSION = 18;
const ROLLBACK_JOURNAL = 1;

const UNFINISHED = '.unfinished-';
/** No copy takes so long: whoever made it was killed. */
const ABANDONED_MS = 3_600_000;

export type Progress = (share: number) => void;

/** What was to be a database is none, is broken, or is not one of this service. */
export class NotADatabaseError extends Error {}

/** Somebody uses the file, or did when it was left: what is beside it would be taken for the copy's. */
export class DatabaseInUseError extends Error {}

/** Of what a server, or SQLite, keeps beside a database. */
const SUFFIXES_BESIDE = [...COMPANIONS, SERVER_SUFFIX];

/**
 * For whoever replaces a file: SQLite would play the log of the database before into the one in its place.
 * @throws {DatabaseInUseError} where anything is beside it that belongs to a database in use, or it is that itself
 */
export function assertUnused(path: string): void {
  // Beside what a link leads to, not beside the link, is where SQLite puts it.
  const places = existsSync(path) ? [path, realpathSync(path)] : [path];
  const database = places.flatMap(besideWhat).find((each) => isFile(each));
  if (database !== undefined) {
    throw new DatabaseInUseError(`${path} belongs to the database ${database}: name another file`);
  }
  const beside = places
    .flatMap((place) => SUFFIXES_BESIDE.map((suffix) => place + suffix))
    .find((companion) => existsSync(companion));
  if (beside === undefined) return;
  throw new DatabaseInUseError(
    `${path} is a database that somebody uses, or did, as ${beside} tells: name another file`,
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Which databases a file of this name would belong to. */
function besideWhat(path: string): string[] {
  return SUFFIXES_BESIDE.filter((suffix) => path.endsWith(suffix)).map((suffix) =>
    path.slice(0, -suffix.length),
  );
}

/**
 * Copies a database as it is at this moment into one file, for its owner alone, while others may write to
 * it. The file is at `target` once it is whole and on the disk, and not before.
 * @throws {NotADatabaseError}
 * @throws {DatabaseInUseError} where `target` has become, or is, a database in use
 */
export async function copyDatabase(
  source: string,
  target: string,
  progress: Progress = () => undefined,
): Promise<void> {
  removeUnfinished(target, ABANDONED_MS);
  const unfinished = `${target}${UNFINISHED}${process.pid}`;
  try {
    closeSync(openSync(unfinished, 'wx', OWNER_ONLY));
    await copy(source, unfinished, progress);
    progress(1);
    makeOneFile(unfinished, source);
    sync(unfinished);
    assertUnused(target);
    renameSync(unfinished, target);
    sync(dirname(target));
  } finally {
    for (const suffix of ['', ...COMPANIONS]) rmSync(unfinished + suffix, { force: true });
  }
}

/** What was to become `target`, and was left by a process that was killed: nobody else would remove it. */
export function removeUnfinished(target: string, olderThanMs: number): void {
  const directory = dirname(target);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(basename(target) + UNFINISHED)) continue;
    const path = join(directory, name);
    const { mtimeMs = Infinity } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (Date.now() - mtimeMs >= olderThanMs) rmSync(path, { force: true });
  }
}

async function copy(source: string, target: string, progress: Progress): Promise<void> {
  const database = open(source);
  try {
    // One snapshot to the end: else each commit of somebody else would begin the copy anew.
    database.exec('BEGIN; SELECT count(*) FROM sqlite_master');
    await database.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        progress(totalPages === 0 ? 0 : 1 - remainingPages / totalPages);
        return PAGES_AT_ONCE;
      },
    });
  } catch (error) {
    throw understood(error, source);
  } finally {
    database.close();
  }
}

/** With nothing beside it that belongs to it, and no page that is broken. */
function makeOneFile(path: string, source: string): void {
  const database = open(path);
  try {
    database.pragma('journal_mode = DELETE');
    const [first] = database.pragma('integrity_check(1)') as { integrity_check: string }[];
    if (first?.integrity_check !== 'ok') {
      throw new NotADatabaseError(`${source} is broken: ${first?.integrity_check}`);
    }
  } catch (error) {
    throw understood(error, source);
  } finally {
    database.close();
  }
}

function open(path: string, readonly = false): Database {
  return new Sqlite(path, { fileMustExist: true, readonly, timeout: PATIENCE_MS });
}

function understood(error: unknown, path: string): unknown {
  const { code } = error as { code?: string };
  if (code === 'SQLITE_NOTADB') return new NotADatabaseError(`${path} is not an SQLite database`);
  if (code?.startsWith('SQLITE_CORRUPT')) return new NotADatabaseError(`${path} is broken`);
  return error;
}

/** The names of the migrations that made its schema. @throws {NotADatabaseError} */
export function migrationsIn(path: string, table: string, readonly = false): string[] {
  const database = open(path, readonly);
  try {
    const rows = database.prepare(`SELECT name FROM ${table} ORDER BY id`).all();
    return (rows as { name: string }[]).map(({ name }) => name);
  } catch (error) {
    // No such table.
    if ((error as { code?: string }).code !== 'SQLITE_ERROR') throw understood(error, path);
    throw new NotADatabaseError(`${path} is not a database of this service`);
  } finally {
    database.close();
  }
}

/**
 * Whether it is as `copyDatabase` writes one, and nobody has used it as a database since. Nothing is made
 * beside it, and nothing in it recovered.
 */
export function isBackup(path: string, table: string): boolean {
  try {
    assertUnused(path);
    // A database that is served has a write-ahead log: to open it, even for reading, would make one.
    return hasRollbackJournal(path) && migrationsIn(path, table, true).length > 0;
  } catch {
    return false;
  }
}

function hasRollbackJournal(path: string): boolean {
  const header = Buffer.alloc(WRITE_VERSION + 1);
  const descriptor = openSync(path, 'r');
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return (
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header[WRITE_VERSION] === ROLLBACK_JOURNAL
  );
}

/** A file, or what a directory says of its files, on the disk. */
export function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
