import { ConfigError, loadConfig } from '../config/config.js';
import { PACKAGE_ROOT } from '../config/version.js';
import { fileOf } from '../database/data-source-options.js';
import { fixOf, UnusableError } from '../errors/fixes.js';
import type { Output } from './output.js';

/** Explains an error to an operator: what is wrong, and what to do. */
export function explain(error: unknown): { reason: string; fix?: string | undefined } {
  if (error instanceof UnusableError) return error;
  // Anything can be thrown.
  const { code = '', message = '', path } = Object(error) as Partial<NodeJS.ErrnoException>;
  const fix = fixOfAccess(code, path) ?? fixOf('start', code, message);
  if (/^Could not locate the bindings file/.test(message) || code === 'ERR_DLOPEN_FAILED') {
    return { reason: 'the SQLite binding of better-sqlite3 cannot be loaded', fix };
  }
  if (code === 'SQLITE_CORRUPT') return { reason: `the file is damaged: ${message}`, fix };
  const isProgrammingError = /^(?:Type|Reference|Range|Syntax)Error\b/.test(String(error));
  const reason = isProgrammingError ? `${String(error)}${placeOf(error as Error)}` : message;
  return { reason: reason || String(error), fix };
}

function fixOfAccess(code: string, path: string | undefined): string | undefined {
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code)) return fixOfFile(loadConfig().databaseUrl);
  const isFile = path !== undefined && /^E(?:ACCES|PERM|ISDIR)$/.test(code);
  return isFile ? fixOfFile(path) : undefined;
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
