import { ConfigError } from '../config/config.js';
import { connectionFailure } from '../database/outage.js';
import type { Output } from './output.js';

/** Of a package that was built for another Node.js than this one, or for another machine. */
export const NOT_LOADED = 'ERR_DLOPEN_FAILED';
export const BUILD_AGAIN = 'npm rebuild better-sqlite3, with the Node.js that serves';

/** What an operator needs to know of a failure, and to do about it. */
export function reportFailure(error: unknown, output: Output): void {
  if (error instanceof ConfigError) {
    output.complainInFull(error.message);
    return;
  }
  const { code, message } = error as NodeJS.ErrnoException;
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
    case NOT_LOADED:
      output.complain(`error: ${message}: ${BUILD_AGAIN}`);
      return;
    case 'EACCES':
      output.complain(`error: ${message}: not allowed; see PORT and DATABASE_URL`);
      return;
    default:
      output.complain(`error: ${advice(error) ?? (message || String(error))}`);
  }
}

function advice(error: unknown): string | undefined {
  const reason = connectionFailure(error);
  return reason && `the database cannot be reached (${reason}); see DATABASE_URL`;
}
