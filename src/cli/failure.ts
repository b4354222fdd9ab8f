import { ConfigError } from '../config/config.js';
import { DatabaseConnectionError } from '../database/connect.js';
import type { Output } from './output.js';

const OTHER_PATH = 'set DATABASE_URL to a file that this user may write';
const RESTORE =
  'set DATABASE_URL to another file; or stop the server, copy the damaged file, ' +
  'and run petstore restore BACKUP';

/**
 * The remedies of errors, by their code. Each fix is safe: none destroys data that may still be
 * good.
 */
const FIXES: Readonly<Record<string, string>> = {
  42501: 'grant the missing privilege to the role in DATABASE_URL, or use a role that has it',
  '55P03':
    'a migration, a backup or a long query of another session holds a lock; try again afterwards',
  EADDRINUSE: 'another program uses this port; set PORT to a free one',
  EADDRNOTAVAIL: 'set HOST to an address of this machine',
  EACCES: 'permission denied; choose another path, or a PORT above 1023',
  EISDIR: OTHER_PATH,
  EAI_AGAIN: 'set HOST to an address of this machine',
  ENOTFOUND: 'set HOST to an address of this machine',
  ENOSPC: 'free disk space',
  SQLITE_BUSY: 'another process locks the database; try again',
  SQLITE_CANTOPEN: OTHER_PATH,
  SQLITE_FULL: 'free disk space',
  SQLITE_IOERR: 'free disk space, or repair the disk',
  SQLITE_NOTADB: RESTORE,
  SQLITE_READONLY: 'make the file and its directory writable for this user',
};

/** Explains an error to an operator: what is wrong, and what to do. */
export function explain(error: unknown): { reason: string; fix?: string | undefined } {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof DatabaseConnectionError) return error;
  if (code === 'ERR_DLOPEN_FAILED' || message.startsWith('Could not locate the bindings file')) {
    return {
      reason: 'the SQLite binding of better-sqlite3 cannot be loaded',
      fix: 'run npm rebuild better-sqlite3 with this Node.js, or set DATABASE_URL to a postgres:// URL',
    };
  }
  if (code === 'SQLITE_CORRUPT') return { reason: `the file is damaged: ${message}`, fix: RESTORE };
  // SQLITE_IOERR_SHMSIZE has the fix of SQLITE_IOERR.
  const fix = FIXES[code] ?? FIXES[code.split('_', 2).join('_')];
  return { reason: message || String(error), fix };
}

/** Prints an error in one line; the faults of a configuration take one line each. */
export function reportFailure(error: unknown, output: Output): void {
  if (error instanceof ConfigError) {
    for (const line of error.message.split('\n')) output.error(line);
    return;
  }
  const { reason, fix } = explain(error);
  output.error(`error: ${reason}${fix === undefined ? '' : `; ${fix}`}`);
}
