import { ConfigError, loadConfig } from '../config/config.js';
import { PACKAGE_ROOT } from '../config/version.js';
import { DatabaseConnectionError } from '../database/connect.js';
import { fileOf } from '../database/data-source-options.js';
import type { Output } from './output.js';

const RESTORE =
  'set DATABASE_URL to another file; or stop the server, copy the damaged file, ' +
  'and run petstore restore BACKUP';
const ALLOW_SCRIPT =
  'allow its install script (npm install-scripts approve better-sqlite3, ' +
  'npx --allow-scripts=better-sqlite3, pnpm approve-builds), ' +
  'run npm rebuild better-sqlite3 with this Node.js, or set DATABASE_URL to a postgres:// URL';

/**
 * The remedies of errors, by their code. Each fix is safe: none destroys data that may still be
 * good. The message has the address that cannot be used: it may be one of an extension.
 */
const FIXES: Readonly<Record<string, string>> = {
  42501: 'grant the missing privilege to the role in DATABASE_URL, or use a role that has it',
  '55P03':
    'a migration, a backup or a long query of another session holds a lock; try again afterwards',
  EACCES: 'choose a port above 1023 (PORT, ADMIN_PORT)',
  EADDRINUSE: 'another program uses this port; choose a free one (PORT, ADMIN_PORT)',
  EADDRNOTAVAIL: 'choose an address of this machine (HOST, ADMIN_HOST)',
  ENOTFOUND: 'correct this host name (HOST, ADMIN_HOST, or a setting of an extension)',
  ENOSPC: 'free disk space',
  SQLITE_BUSY: 'another process locks the database; try again',
  SQLITE_FULL: 'free disk space',
  SQLITE_IOERR: 'free disk space, or repair the disk',
  SQLITE_NOTADB: RESTORE,
};

/** Explains an error to an operator: what is wrong, and what to do. */
export function explain(error: unknown): { reason: string; fix?: string | undefined } {
  // Anything can be thrown.
  const { code = '', message = '' } = Object(error) as Partial<NodeJS.ErrnoException>;
  if (error instanceof DatabaseConnectionError) return error;
  if (code === 'ERR_DLOPEN_FAILED' || message.startsWith('Could not locate the bindings file')) {
    return { reason: 'the SQLite binding of better-sqlite3 cannot be loaded', fix: ALLOW_SCRIPT };
  }
  if (code === 'SQLITE_CORRUPT') return { reason: `the file is damaged: ${message}`, fix: RESTORE };
  const isProgrammingError = /^(?:Type|Reference|Range|Syntax)Error\b/.test(String(error));
  const reason = isProgrammingError ? `${String(error)}${placeOf(error as Error)}` : message;
  return { reason: reason || String(error), fix: fixOf(Object(error) as NodeJS.ErrnoException) };
}

function fixOf({ code = '', path }: NodeJS.ErrnoException): string | undefined {
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code)) return fixOfFile(loadConfig().databaseUrl);
  if (path !== undefined && /^E(?:ACCES|PERM|ISDIR)$/.test(code)) return fixOfFile(path);
  // SQLITE_IOERR_SHMSIZE has the fix of SQLITE_IOERR.
  return FIXES[code] ?? FIXES[code.split('_', 2).join('_')];
}

function fixOfFile(url: string): string {
  return `give this user access to ${fileOf(url) ?? url}, or choose another file`;
}

/** The first line of the stack in an extension, otherwise in the service. */
function placeOf({ stack = '' }: Error): string {
  const lines = stack.match(/^ +at (?!.*node:).*$/gm) ?? [];
  const line = lines.find((each) => !each.includes(PACKAGE_ROOT)) ?? lines[0] ?? '';
  return line.replace(/ +/g, ' ');
}

/** Prints one line per cause. */
export function reportFailure(error: unknown, output: Output): void {
  if (error instanceof ConfigError) {
    for (const fault of error.faults) output.error(`error: ${fault}`);
    return;
  }
  const { reason, fix } = explain(error);
  output.error(`error: ${reason}${fix === undefined ? '' : `; ${fix}`}`);
}
