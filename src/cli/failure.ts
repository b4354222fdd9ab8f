import { fileURLToPath } from 'node:url';
import { type Config, ConfigError } from '../core/config/config.js';
import { ExplainedError, fixOf } from '../core/config/fixes.js';
import { fileOf } from '../core/database/data-source-options.js';
import { driverErrorOf } from '../core/database/database-error.js';
import { type Extension, nameOf } from '../extensions/define.js';
import type { Output } from './output.js';

const OWN_URL = new URL('..', import.meta.url);
const OWN_CODE = fileURLToPath(OWN_URL);
/** They call extensions, or are called by them. */
const ENTRIES =
  /^(?:server|main|core\/telemetry\/metrics|cli\/(?:serve|operator|openapi|program|add-command))\.[jt]s/;

/**
 * Finds out where an error happened. The service explains failures of its ports, and of
 * connections, in place. Of the others, an error from its own code is one of its database; any
 * other comes from an extension.
 * @returns an error with a fix, or with the name of the extension
 */
export function explain(
  error: unknown,
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  extensions: readonly Extension[],
): unknown {
  if (error instanceof ConfigError || error instanceof ExplainedError) return error;
  const frame = frameOf(error);
  const [, own] = frame?.split(OWN_CODE) ?? [];
  if (own !== undefined && !ENTRIES.test(own)) {
    const file = fileOf(databaseUrl);
    const fix = fixOf(file === undefined ? 'postgres' : 'sqlite', driverErrorOf(error), file);
    return fix === undefined ? error : new ExplainedError(reasonOf(error), fix, error);
  }
  const others = extensions.filter(({ from }) => !from?.startsWith(OWN_URL.href));
  const names = others.map(nameOf).join(' or ');
  return names ? new Error(`extension ${names}: ${reasonOf(error)}`, { cause: error }) : error;
}

/** @returns the first line of the stack in the service or in an extension that is no package */
function frameOf(error: unknown): string | undefined {
  const { stack = '' } = Object(error) as Partial<Error>;
  const lines = stack.match(/^ +at .*$/gm) ?? [];
  return lines.find((line) => line.includes(OWN_CODE) || !/node:|\/node_modules\//.test(line));
}

/** The message, with the messages of its causes: `fetch()` says only that it failed. */
export function reasonOf(error: unknown): string {
  // Anything can be thrown.
  const { message, cause, errors } = Object(error) as Partial<AggregateError>;
  // Errors of Node with a code, such as those of `parseArgs`, do not match: `TypeError [CODE]`.
  const isProgrammingError = /^(?:Type|Reference|Range|Syntax)Error:/.test(String(error));
  if (isProgrammingError && cause === undefined) return `${String(error)}${placeOf(error)}`;
  const own = message || errors?.map(reasonOf).join(', ') || String(error);
  const reason = cause === undefined ? '' : reasonOf(cause);
  return own.includes(reason) ? own : `${own}: ${reason}`;
}

function placeOf(error: unknown): string {
  return frameOf(error)?.replace(/ +/g, ' ') ?? '';
}

/** Prints one line per cause. */
export function reportFailure(error: unknown, output: Output): void {
  const faults = error instanceof ConfigError ? error.faults : [reasonOf(error)];
  for (const fault of faults) output.error(`error: ${fault}`);
}
