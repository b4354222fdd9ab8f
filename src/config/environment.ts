import { existsSync, readFileSync } from 'node:fs';
import { parse } from 'dotenv';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A line that dotenv can read: empty, a comment, `NAME=value` or `NAME: value`. */
const READABLE = /^\s*(?:#.*|(?:export\s+)?[\w.-]+\s*(?:=|:\s).*)?$/;
/** A quoted value, which may span lines. */
const QUOTED = /=\s*(["'`])(?:(?!\1)[^\\]|\\.)*\1/gs;

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

/** Returns a warning for each variable whose name differs from a known one by a typo. */
export function misspeltSettings(environment: Environment, known: readonly string[]): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (known.includes(name)) return [];
    const misspelt = misspellings(name);
    const nearest = known.find((other) =>
      misspellings(other).some((each) => misspelt.includes(each)),
    );
    return nearest === undefined ? [] : [`unknown setting ${name}: did you mean ${nearest}?`];
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
