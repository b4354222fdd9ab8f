import {
  chownSync,
  existsSync,
  linkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { SERVER_SUFFIX, SqliteClaim } from './sqlite.claim.js';
import { copyDatabase, type Progress, removeUnfinished, sync } from './sqlite.copy.js';
import { LOG_SUFFIXES } from './sqlite.file.js';

/**
 * Puts a copy of the database `source` in the place of the one at `path`, in an instant, once it is whole,
 * on the disk and has passed `check`. The one before is kept aside until the new one can be read.
 * @throws {DatabaseServedError} while a server has it
 */
export async function restoreDatabase(
  source: string,
  path: string,
  check: (path: string) => void,
  progress?: Progress,
): Promise<void> {
  const wasThere = existsSync(path);
  const claim = SqliteClaim.hold(path);
  const place = realpathSync(path);
  const arrival = `${place}.arriving`;
  try {
    // Nobody else restores while this process has the claim.
    removeUnfinished(arrival, -Infinity);
    await copyDatabase(source, arrival, progress);
    // What is wrong is to be said of the one that was named.
    for (const each of [source, arrival]) check(each);
    const owned = wasThere ? place : dirname(place);
    // The claim, too, may just have been made by whoever restores.
    for (const file of [arrival, place + SERVER_SUFFIX]) giveToOwnerOf(owned, file);
    exchange(place, arrival, check);
  } catch (error) {
    if (!wasThere) rmSync(place, { force: true });
    throw error;
  } finally {
    rmSync(arrival, { force: true });
    claim.release();
  }
}

function exchange(place: string, arrival: string, check: (path: string) => void): void {
  const aside = `${place}.replaced`;
  for (const suffix of ['', ...LOG_SUFFIXES]) rmSync(aside + suffix, { force: true });
  fold(place);
  // With another database, SQLite would take its log for that one's.
  for (const suffix of LOG_SUFFIXES) move(place + suffix, aside + suffix);
  // Both names for a moment: at no time is there no database at its place.
  linkSync(place, aside);
  renameSync(arrival, place);
  try {
    check(place);
    sync(dirname(place));
  } catch (error) {
    renameSync(aside, place);
    for (const suffix of LOG_SUFFIXES) move(aside + suffix, place + suffix);
    throw error;
  }
  for (const suffix of ['', ...LOG_SUFFIXES]) rmSync(aside + suffix, { force: true });
}

/** All of it into the one file, where it can still be read. */
function fold(path: string): void {
  try {
    const database = new Sqlite(path, { fileMustExist: true });
    try {
      database.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      database.close();
    }
  } catch {
    // That it is broken may be why it is replaced.
  }
}

function move(from: string, to: string): void {
  if (existsSync(from)) renameSync(from, to);
}

/** Whoever restores, the server has to be able to open it. */
function giveToOwnerOf(path: string, file: string): void {
  const { uid, gid } = statSync(path);
  try {
    chownSync(file, uid, gid);
  } catch {
    // Only root gives files away; for anybody else the owner is the same.
  }
}
