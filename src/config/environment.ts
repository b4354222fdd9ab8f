import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'dotenv';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A line that dotenv can read: empty, a comment, `NAME=value` or `NAME: value`. */
const READABLE = /^\s*(?:#.*|(?:export\s+)?[\w.-]+\s*(?:=|:\s).*)?$/;
/** A quoted value, which may span lines. */
const QUOTED = /=\s*(["'`])(?:(?!\1)[^\\]|\\.)*\1/gs;
/** Kubernetes sets `REDIS_PORT=tcp://10.0.0.1:6379` and the like for a service called redis. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)|_PORT_\d+_/;

/** Merges the `.env` file of the working directory into `environment`, which takes precedence. */
export function withDotEnv(environment: Environment): { values: Environment; warnings: string[] } {
  const text = existsSync('.env') ? readFileSync('.env', 'utf8') : '';
  const lines = text.replace(QUOTED, (value) => `=${'\n'.repeat(value.split('\n').length - 1)}`);
  const warnings = lines.split(/\r?\n/).flatMap((line, index) => {
    if (READABLE.test(line)) return [];
    return [`.env, line ${index + 1} is ignored: expected NAME=value`];
  });
  return { values: { ...parse(text), ...environment }, warnings };
}

/** Returns a warning for each variable that looks like a setting of the service, but is none. */
export function unknownSettings(environment: Environment, known: readonly string[]): string[] {
  const prefixes = known.map((name) => /^(?!NODE_)[^_]+_/.exec(name)?.[0] ?? '=');
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const isForeign = /^(?:OTEL|npm)_/.test(name) || SERVICE_LINK.test(name);
    if (isForeign || value.startsWith('tcp://') || known.includes(name)) return [];
    const misspelt = misspellings(name);
    const nearest = known.find((other) =>
      misspellings(other).some((each) => misspelt.includes(each)),
    );
    if (nearest !== undefined) return [`unknown setting ${name}: did you mean ${nearest}?`];
    const hasPrefix = prefixes.some((prefix) => name.startsWith(prefix));
    return hasPrefix ? [`unknown setting ${name} is ignored`] : [];
  });
}

/**
 * The letters of a name, and all but one of them. Two names that differ by a typo have one of these
 * in common.
 */
function misspellings(name: string): string[] {
  const letters = name.toUpperCase().replaceAll('_', '');
  return [letters, ...Array.from(letters, (_, at) => letters.slice(0, at) + letters.slice(at + 1))];
}
