import { ConfigError } from '../config/config.js';
import type { Output } from './output.js';

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
    case 'EACCES':
      output.complain(`error: ${message}: not allowed; see PORT and DATABASE_URL`);
      return;
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      output.complain(`error: the database cannot be reached (${code}); see DATABASE_URL`);
      return;
    default:
      output.complain(`error: ${message || String(error)}`);
  }
}
