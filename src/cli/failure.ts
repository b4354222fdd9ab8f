import { existsSync, statSync } from 'node:fs';
import { ConfigError, loadConfig } from '../config/config.js';
import { DatabaseConnectionError } from '../database/connect.js';
import { fileOf } from '../database/data-source-options.js';
import type { Output } from './output.js';

const RESTORE =
  'set DATABASE_URL to another file; or stop the server, copy the damaged file, ' +
  'and run petstore restore BACKUP';
const ALLOW_SCRIPT =
  'allow its install script (npm install-scripts approve better-sqlite3, ' +
  'npx --allow-scripts=better-sqlite3, pnpm approve-builds), ' +
  'run npm rebuild better-sqlite3 with this Node.js, or set DATABASE_URL to a postgres:// URL'; /** An extension may listen too, on an address from a setting of its own. */
const ADDRESS_FIX =
  'set HOST to an address of this machine, and set PORT to a free port above 1023 ' +
  '(or ADMIN_HOST and ADMIN_PORT, or the settings of the extension that uses this address)';

/**
 * The remedies of errors, by their code. Each fix is safe: none destroys data that may still be
 * good.
 */
const FIXES: Readonly<Record<string, string>> = {
  42501: 'grant the missing privilege to the role in DATABASE_URL, or use a role that has it',
  '55P03':
    'a migration, a backup or a long query of another session holds a lock; try again afterwards',
  ENOSPC: 'free disk space',
  SQLITE_BUSY: 'another process locks the database; try again',
  SQLITE_FULL: 'free disk space',
  SQLITE_NOTADB: RESTORE,
};
/** Explains an error to an operator: what is wrong, and what to do. */
export function explain(error: unknown): { reason: string; fix?: string | undefined } {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (error instanceof DatabaseConnectionError) return error;
  if (code === 'ERR_DLOPEN_FAILED' || message.startsWith('Could not locate the bindings file')) {
    return { reason: 'the SQLite binding of better-sqlite3 cannot be loaded', fix: ALLOW_SCRIPT };
  }
  if (code === 'SQLITE_CORRUPT') return { reason: `the file is damaged: ${message}`, fix: RESTORE };
  return { reason: message || String(error), fix: fixOf(error as NodeJS.ErrnoException) };
}

function fixOf({ code = '', syscall, path }: NodeJS.ErrnoException): string | undefined {
  if (syscall === 'listen' || syscall === 'getaddrinfo') return ADDRESS_FIX;
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code)) return fixOfFile(loadConfig().databaseUrl);
  if (path !== undefined && /^E(?:ACCES|PERM|ISDIR)$/.test(code)) return fixOfFile(path);
  return FIXES[code];
}

function fixOfFile(url: string): string {
  const path = fileOf(url) ?? url;
  const owner = existsSync(path) ? `, which belongs to user ${statSync(path).uid},` : '';
  return `give this user access to ${path}${owner} or choose another file`;
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
