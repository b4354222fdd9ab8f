import { readFileSync } from 'node:fs';
import { parse } from 'dotenv';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A line that dotenv can read: empty, a comment, `NAME=value` or `NAME: value`. */
const READABLE = /^\s*(?:#.*|(?:export\s+)?[\w.-]+\s*(?:=|:\s).*)?$/;
/** A quoted value, which may span lines. */
const QUOTED = /=\s*(["'`])(?:(?!\1)[^\\]|\\.)*\1/gs;
/** Kubernetes sets `REDIS_PORT=tcp://10.0.0.1:6379` and the like for a service called redis. */
const SERVICE_LINK = /_SERVICE_(?:HOST|PORT)|_PORT_\d+_/;
const MAX_TYPOS = 2;

/**
 * Merges the `.env` file of the working directory into `environment`, which takes precedence.
 * @throws {NodeJS.ErrnoException} if there is a file that cannot be read
 */
export function withDotEnv(environment: Environment): { values: Environment; warnings: string[] } {
  let text = '';
  try {
    text = readFileSync('.env', 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
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
    const nearest = known.find((other) => isTypo(name, other));
    if (nearest !== undefined) return [`unknown setting ${name}: did you mean ${nearest}?`];
    const hasPrefix = prefixes.some((prefix) => name.startsWith(prefix));
    return hasPrefix ? [`unknown setting ${name} is ignored`] : [];
  });
}

function isTypo(name: string, other: string): boolean {
  const [one = '', two = ''] = [name, other].map((each) => each.toUpperCase().replaceAll('_', ''));
  return levenshteinDistance(one, two) <= Math.min(MAX_TYPOS, two.length / 4);
}

function levenshteinDistance(one: string, two: string): number {
  let row = Array.from({ length: two.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...two].entries()) {
      const substitution = row[j]! + (letter === other ? 0 : 1);
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, substitution));
    }
    row = next;
  }
  return row[two.length]!;
}
