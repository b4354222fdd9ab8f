import { ConfigError } from '../config/config.js';
import { connectionFailure } from '../database/outage.js';
import type { Output } from './output.js';

/** Of a package that was built for another Node.js than this one, or for another machine. */
export const NOT_LOADED = 'ERR_DLOPEN_FAILED';
export const BUILD_AGAIN = 'npm rebuild better-sqlite3, with the Node.js that serves';

/** Of a port that belongs to the system. */
const PORT_ALLOWED = 'this user may not listen there; set PORT to one from 1024 up';
export const PATH_ALLOWED =
  'this user may not; name another path, or see DATABASE_URL where it is that of the database';
const WRITING_ALLOWED =
  'this user may not write it, or what is beside it; petstore doctor names the file';

/** What an operator needs to know of a failure, and to do about it. */
export function reportFailure(error: unknown, output: Output): void {
  if (error instanceof ConfigError) {
    output.complainInFull(error.message);
    return;
  }
  const { code, message, syscall } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'EADDRINUSE':
      output.complain(`error: ${message}: another program listens there; set PORT to a free one`);
      return;
    case 'EADDRNOTAVAIL':
      output.complain(`error: ${message}: set HOST to an address of this machine`);
      return;
    case 'SQLITE_NOTADB':
    case 'SQLITE_CORRUPT':
      output.complain(
        `error: ${message}: restore a backup (petstore restore), or see DATABASE_URL`,
      );
      return;
    case 'SQLITE_READONLY':
      output.complain(`error: ${message}: ${WRITING_ALLOWED}`);
      return;
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY_DIRECTORY':
      output.complain(`error: ${message}: ${PATH_ALLOWED}`);
      return;
    case NOT_LOADED:
      output.complain(`error: ${message}: ${BUILD_AGAIN}`);
      return;
    case 'EACCES':
      output.complain(`error: ${message}: ${syscall === 'listen' ? PORT_ALLOWED : PATH_ALLOWED}`);
      return;
    default:
      output.complain(`error: ${advice(error) ?? (message || String(error))}`);
  }
}

function advice(error: unknown): string | undefined {
  const reason = connectionFailure(error);
  return reason && `the database cannot be reached (${reason}); see DATABASE_URL`;
}
