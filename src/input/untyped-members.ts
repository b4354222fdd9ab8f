import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { type Dto, dtoOf } from './dto.js';
import { madeOf, memberOf } from './undeclared-members.js';

/**
 * The first member with `@ValidateNested()`, at any depth, as `Order.line`, of which class-transformer makes no
 * instance: it lacks `@Type()`, and so no rule below it would ever be asked.
 */
export function untypedMember(type: unknown, seen = new Set<unknown>()): string | undefined {
  const dto = dtoOf(type);
  if (dto === undefined || seen.has(type)) return undefined;
  seen.add(type);
  const nested = nestedMembersOf(type as Type);
  for (const name of dto.names) {
    const member = memberOf(dto, name);
    if (!nested.has(member)) continue;
    const made = firstMadeOf(dto, name);
    if (made?.constructor === Object) return `${(type as Type).name}.${member}`;
    const below = untypedMember(made?.constructor, seen);
    if (below !== undefined) return below;
  }
  return undefined;
}

function nestedMembersOf(type: Type): Set<string> {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const nested = rules.filter((rule) => rule.type === 'nestedValidation');
  return new Set(nested.map(({ propertyName }) => propertyName));
}

/** What is made of an empty object by that name, or of one in a list; undefined where it takes neither. */
function firstMadeOf(dto: Dto, name: string): object | undefined {
  try {
    const instance = dto.make({ [name]: dto.lists.has(name) ? [{}] : {} });
    const [first] = [madeOf(dto, instance, name)].flat();
    return typeof first === 'object' && first !== null ? first : undefined;
  } catch {
    return undefined; // A transformation of its own takes no such value.
  }
}
