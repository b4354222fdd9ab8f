import { existsSync, statSync } from 'node:fs';
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
/** A database of an earlier build has other migrations. */
export const FOREIGN_TABLES = {
  reason: 'the tables of the database are from an earlier build, or from another program',
  fix: 'set DATABASE_URL to an empty database, or drop these tables',
};

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
  SQLITE_IOERR: 'free disk space, or repair the disk',
  SQLITE_NOTADB: RESTORE,
};
/** The remedies if the server cannot listen; `HOST` for other codes. */
const PORT_FIXES: Readonly<Record<string, string>> = {
  EACCES: 'set PORT to a port above 1023',
  EADDRINUSE: 'another program uses this port; set PORT to a free one',
};

/** The members of Node's errors of servers, look-ups and files. */
interface SystemError extends NodeJS.ErrnoException {
  port?: number;
  address?: string;
  hostname?: string;
}

/** Explains an error to an operator: what is wrong, and what to do. */
export function explain(error: unknown): { reason: string; fix?: string | undefined } {
  // Anything can be thrown.
  const { code = '', message = '' } = Object(error) as Partial<NodeJS.ErrnoException>;
  if (error instanceof DatabaseConnectionError) return error;
  if (code === 'ERR_DLOPEN_FAILED' || message.startsWith('Could not locate the bindings file')) {
    return { reason: 'the SQLite binding of better-sqlite3 cannot be loaded', fix: ALLOW_SCRIPT };
  }
  if (code === 'SQLITE_CORRUPT') return { reason: `the file is damaged: ${message}`, fix: RESTORE };
  if (/(?:table|relation) "?pets"? already exists/.test(message)) return FOREIGN_TABLES;
  const isProgrammingError = /^(?:Type|Reference|Range|Syntax)Error\b/.test(String(error));
  const reason = isProgrammingError ? `${String(error)}${placeOf(error as Error)}` : message;
  return { reason: reason || String(error), fix: fixOf(Object(error) as SystemError) };
}

function fixOf(error: SystemError): string | undefined {
  const { code = '', syscall = '', path } = error;
  if (/^(?:listen|getaddrinfo)$/.test(syscall)) return fixOfAddress(error);
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code)) return fixOfFile(loadConfig().databaseUrl);
  if (path !== undefined && /^E(?:ACCES|PERM|ISDIR)$/.test(code)) return fixOfFile(path);
  // SQLITE_IOERR_SHMSIZE has the fix of SQLITE_IOERR.
  return FIXES[code] ?? FIXES[code.split('_', 2).join('_')];
}

function fixOfFile(url: string): string {
  const path = fileOf(url) ?? url;
  const owner = existsSync(path) ? `, which belongs to user ${statSync(path).uid},` : '';
  return `give this user access to ${path}${owner} or choose another file`;
}

/** An extension uses every other address. */
function fixOfAddress(error: SystemError): string {
  const { code = '', port, address, hostname = address! } = error;
  const config = loadConfig();
  const hosts = { [config.adminHost]: 'set ADMIN_', [config.host]: 'set ' };
  const ports = { [config.adminPort]: 'set ADMIN_', [config.port]: 'set ' };
  const setting = port === undefined ? hosts[hostname] : ports[port];
  if (setting === undefined) {
    return `an extension uses this address${placeOf(error)}; change it there`;
  }
  const fix = PORT_FIXES[code] ?? 'set HOST to an address of this machine';
  return fix.replace('set ', setting);
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
