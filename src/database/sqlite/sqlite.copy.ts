import {
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { MIGRATIONS_TABLE } from '../data-source-options.js';
import { DatabaseLock, SERVER_SUFFIX } from './database-lock.js';
import { LOG_SUFFIXES, OWNER_ONLY } from './sqlite.file.js';

/** About 40 MB a step, so that a progress bar moves. */
const PAGES_PER_STEP = 10_000;
const BUSY_TIMEOUT_MS = 5_000;
const COMPANIONS = ['-journal', ...LOG_SUFFIXES];

export type OnProgress = (share: number) => void;

/**
 * Copies a database into one file, for its owner only, while other processes may write to the database. The copy gets
 * the name `target` when it is complete, checked and on the disk. If the process is killed, a `.tmp` file remains.
 * @throws if `source` is damaged or not a database of this service
 */
export async function backupDatabase(
  source: string,
  target: string,
  onProgress: OnProgress = () => undefined,
): Promise<void> {
  const temporary = `${target}.${process.pid}.tmp`;
  migrationsIn(source);
  const database = open(source);
  try {
    closeSync(openSync(temporary, 'wx', OWNER_ONLY));
    // One snapshot: otherwise each commit of another process restarts the copy.
    database.exec('BEGIN; SELECT count(*) FROM sqlite_master');
    await database.backup(temporary, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(1 - remainingPages / Math.max(1, totalPages));
        return PAGES_PER_STEP;
      },
    });
    assertIntact(temporary, source);
    renameDurably(temporary, target);
  } catch (error) {
    throw explained(error, source);
  } finally {
    database.close();
    for (const suffix of ['', ...COMPANIONS]) rmSync(temporary + suffix, { force: true });
  }
}

/**
 * Replaces the database at `path`, which may be broken, with a backup.
 * @throws {DatabaseServedError} if a server has the database
 */
export async function restoreDatabase(
  backup: string,
  path: string,
  onProgress?: OnProgress,
): Promise<void> {
  const isNew = !existsSync(path);
  const lock = DatabaseLock.acquire(path);
  const place = realpathSync(path);
  const arrival = `${place}.restored`;
  try {
    await backupDatabase(backup, arrival, onProgress);
    const owned = isNew ? dirname(place) : place;
    for (const file of [arrival, place + SERVER_SUFFIX]) giveToOwnerOf(owned, file);
    checkpoint(place);
    // SQLite would replay the log of the previous database into the restored one.
    for (const suffix of LOG_SUFFIXES) rmSync(place + suffix, { force: true });
    renameDurably(arrival, place);
  } catch (error) {
    if (isNew) rmSync(place, { force: true });
    throw error;
  } finally {
    rmSync(arrival, { force: true });
    lock.release();
  }
}

/** @throws if `path` belongs to a database that is in use, or was not closed properly */
export function assertUnused(path: string): void {
  const suffixes = [...COMPANIONS, SERVER_SUFFIX];
  const place = existsSync(path) ? realpathSync(path) : path;
  const owner = suffixes.find(
    (suffix) => place.endsWith(suffix) && isFile(place.slice(0, -suffix.length)),
  );
  const companion = suffixes.find((suffix) => existsSync(place + suffix));
  if (owner === undefined && companion === undefined) return;
  const file = owner === undefined ? place + companion! : place.slice(0, -owner.length);
  throw new Error(`${path} belongs to a database in use, as ${file} shows: name another file`);
}

/** @returns the names of the migrations that created the schema @throws if it is not a database of this service */
export function migrationsIn(path: string): string[] {
  const database = open(path);
  try {
    const names = database.prepare(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`).pluck();
    return names.all() as string[];
  } catch (error) {
    throw explained(error, path);
  } finally {
    database.close();
  }
}

/** Moves the log of the previous database into its file, so that it is complete if the next step fails. */
function checkpoint(path: string): void {
  try {
    const database = open(path);
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
  } catch {
    // It may be restored because it is damaged.
  }
}

function open(path: string): Sqlite.Database {
  return new Sqlite(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS });
}

/** Also leaves nothing beside the file that belongs to it. */
function assertIntact(path: string, source: string): void {
  const database = open(path);
  try {
    database.pragma('journal_mode = DELETE');
    const found = database.pragma('integrity_check(1)', { simple: true });
    if (found !== 'ok') throw new Error(`${source} is damaged: ${String(found)}`);
  } finally {
    database.close();
  }
}

function explained(error: unknown, path: string): unknown {
  const { code = '' } = error as { code?: string };
  if (code === 'SQLITE_NOTADB') return new Error(`${path} is not an SQLite database`);
  if (code.startsWith('SQLITE_CORRUPT')) return new Error(`${path} is damaged`);
  if (code === 'SQLITE_ERROR') return new Error(`${path} is not a database of this service`);
  return error;
}

function renameDurably(from: string, to: string): void {
  sync(from);
  renameSync(from, to);
  sync(dirname(to));
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** Root may restore for the account of the server. */
function giveToOwnerOf(path: string, file: string): void {
  const { uid, gid } = statSync(path);
  if (process.getuid?.() === 0) chownSync(file, uid, gid);
}
