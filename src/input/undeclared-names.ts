import { isDeepStrictEqual } from 'node:util';
import type { SchemaResult, StandardSchema } from './operation-input.js';
import { RESERVED_NAMES } from './validation.js';

type Members = Readonly<Record<string, unknown>>;

/** Nobody sends this. */
const INVENTED = '\u{fffe} no such name';
const NONSENSE = '\u{fffe} no such value';

/**
 * Of `names`, those that are nothing to any of `schemas`, which do not tell what they take; where that cannot be
 * known, they are what the schemas took. Each schema is asked four times at most, however many names there are:
 * it may be slow, or ask others.
 * @param given keeps, or does not keep, the schemas; what does not is for the pipe to tell
 */
export async function namesWithoutUse(
  schemas: readonly StandardSchema[],
  given: Members,
  names: readonly string[],
): Promise<string[]> {
  const made = await judgedBy(schemas, given);
  if (made.some(({ issues }) => issues !== undefined)) return [];
  const left = names.filter((name) => !made.some((result) => hasMember(result, name)));
  if (left.length === 0) return [];
  /** Whether that would have made a difference. */
  const differs = (other: Members): Promise<boolean> => isMadeOtherwise(schemas, made, other);
  // Who takes any name, or refuses all but some, has taken these.
  if (await differs({ ...given, [INVENTED]: NONSENSE })) {
    return left.filter((name) => RESERVED_NAMES.includes(name));
  }
  // Names that the schema has renamed: without them there is another result, or with other values of them.
  const others = Object.entries(given).filter(([name]) => !left.includes(name));
  const rest = Object.fromEntries(others);
  if (await differs(rest)) return [];
  const nonsense = Object.fromEntries(left.map((name) => [name, NONSENSE]));
  return (await differs({ ...rest, ...nonsense })) ? [] : left;
}

function hasMember(result: SchemaResult, name: string): boolean {
  if (result.issues !== undefined) return false;
  const { value } = result;
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

async function isMadeOtherwise(
  schemas: readonly StandardSchema[],
  made: readonly SchemaResult[],
  given: Members,
): Promise<boolean> {
  try {
    return !isDeepStrictEqual(made, await judgedBy(schemas, given));
  } catch {
    return true;
  }
}

function judgedBy(schemas: readonly StandardSchema[], given: Members): Promise<SchemaResult[]> {
  return Promise.all(schemas.map(async (schema) => schema['~standard'].validate({ ...given })));
}
