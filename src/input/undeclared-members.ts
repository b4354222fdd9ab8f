import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import { type Dto, dtoOf } from './dto.js';

type Members = Readonly<Record<string, unknown>>;

/**
 * The paths of what was sent and its class does not declare: level by level, what was sent beside what was made of
 * it. Where a transformation gave it another shape, as a Set of a list, it goes by what was made alone.
 */
export function undeclaredBelow(sent: unknown, made: unknown, path: string): string[] {
  if (!isObject(sent) || !isObject(made)) return [];
  if (Array.isArray(sent) !== Array.isArray(made) || isCollection(made)) {
    return strangersIn(made, path);
  }
  if (Array.isArray(sent) && Array.isArray(made)) {
    // Of a list that became a shorter one nobody knows which is which.
    if (sent.length !== made.length) return strangersIn(made, path);
    return sent.flatMap((item, index) => undeclaredBelow(item, made[index], `${path}.${index}`));
  }
  const dto = dtoOf(made.constructor);
  if (dto === undefined) return [];
  return Object.entries(sent).flatMap(([name, value]) =>
    dto.names.has(name)
      ? undeclaredBelow(value, madeOf(dto, made, name), `${path}.${name}`)
      : [`${path}.${name}`],
  );
}

/** What was made of what was sent by a name. */
export function madeOf(dto: Dto, instance: object, name: string): unknown {
  return (instance as Members)[memberOf(dto, name)];
}

/** Which member a name is for. */
export function memberOf({ renamed }: Dto, name: string): string {
  return renamed.get(name) ?? name;
}

/** What instances have besides what their class declares and gives them itself. */
function strangersIn(made: unknown, path: string): string[] {
  if (!isObject(made)) return [];
  if (made instanceof Map) {
    return Array.from(made).flatMap(([key, item]) => strangersIn(item, `${path}.${String(key)}`));
  }
  if (Array.isArray(made) || made instanceof Set) {
    return [...made.values()].flatMap((item) => strangersIn(item, path));
  }
  const dto = dtoOf(made.constructor);
  if (dto === undefined) return [];
  const declared = new Set(Array.from(dto.names, (name) => memberOf(dto, name)));
  const fresh = freshOf(made.constructor as Type<Members>);
  return Object.entries(made).flatMap(([member, value]) => {
    const below = `${path}.${member}`;
    if (declared.has(member)) return strangersIn(value, below);
    if (fresh === undefined) return [];
    return Object.hasOwn(fresh, member) && isDeepStrictEqual(value, fresh[member]) ? [] : [below];
  });
}

/** Undefined of a class that takes more to be made, which only a transformation of its own can have done. */
function freshOf(type: Type<Members>): Members | undefined {
  try {
    return new type();
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isCollection(value: object): value is Set<unknown> | Map<unknown, unknown> {
  return value instanceof Set || value instanceof Map;
}
