import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { InParts } from './in-parts.js';

type Members = Readonly<Record<string, unknown>>;
type RuleMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];
type Test = (instance: Members) => boolean;

/** A class whose rules say what a caller may send. */
export interface Dto {
  /** What has a rule, by the name that a caller gives it: nothing else can be set. */
  names: ReadonlySet<string>;
  /** The member that a name is for, where `@Expose({ name })` says another one. */
  renamed: ReadonlyMap<string, string>;
  /** Of those, what takes a list. */
  lists: ReadonlySet<string>;
  make(members: Members): object;
  /** How to make a part of one; undefined where it is made without class-transformer: see `MadeBy`. */
  parts: InParts | undefined;
  /** Whether an instance keeps every rule; undefined where only class-validator can tell, as of what it waits for. */
  holds: Test | undefined;
}

const MADE_BY = 'petstore:made-by';

/**
 * Has a DTO made of what was sent by `make`: where class-transformer would cost more than the rest of
 * the request does.
 */
export function MadeBy(make: (members: Members) => object) {
  return (type: Type<object>): void => Reflect.defineMetadata(MADE_BY, make, type);
}

const dtos = new WeakMap<Type, Dto | { names?: undefined }>();

/** What the rules of `type` say; undefined where it has none, so that it is nobody's DTO. */
export function dtoOf(type: unknown): Dto | undefined {
  if (!isClass(type)) return undefined;
  let dto = dtos.get(type);
  if (dto === undefined) {
    dto = compile(type) ?? {};
    dtos.set(type, dto);
  }
  return dto.names === undefined ? undefined : dto;
}

function isClass(type: unknown): type is Type<object> {
  return typeof type === 'function' && type !== Object && typeof type.prototype === 'object';
}

function compile(type: Type<object>): Dto | undefined {
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  if (rules.length === 0) return undefined;
  const byName = new Map<string, RuleMetadata[]>();
  for (const rule of rules) {
    const ofName = byName.get(rule.propertyName);
    if (ofName === undefined) byName.set(rule.propertyName, [rule]);
    else ofName.push(rule);
  }
  const makeBy = Reflect.getOwnMetadata(MADE_BY, type) as Dto['make'] | undefined;
  const members = [...byName.keys()];
  const parts = makeBy ? undefined : new InParts(type, new Set(members));
  const sentAs = parts ? sentNames(parts, members) : new Map(members.map((name) => [name, name]));
  const onPromise = (): void => {
    dto.holds = undefined;
  };
  const tests = Array.from(byName, ([name, ofName]) => compileProperty(name, ofName, onPromise));
  const dto: Dto = {
    names: new Set(sentAs.values()),
    renamed: new Map(
      Array.from(sentAs, ([member, name]) => [name, member] as const).filter(
        ([name, member]) => name !== member,
      ),
    ),
    lists: new Set(
      members
        .filter((member) => isList(type, member, byName.get(member)!))
        .map((member) => sentAs.get(member)!),
    ),
    make: makeBy ?? ((sent) => plainToInstance(type, sent)),
    parts,
    holds: tests.every((test) => test !== undefined)
      ? (instance) => tests.every((test) => test(instance))
      : undefined,
  };
  return dto;
}

/** What callers call each member: what `@Expose({ name })` says, else its own name. */
function sentNames(parts: InParts, members: readonly string[]): ReadonlyMap<string, string> {
  let names: ReadonlyMap<string, string> = new Map();
  try {
    names = parts.names();
  } catch {
    // It cannot be made at all, as a class that takes arguments.
  }
  return new Map(members.map((member) => [member, names.get(member) ?? member]));
}

function isList(type: Type<object>, name: string, rules: readonly RuleMetadata[]): boolean {
  return (
    Reflect.getMetadata('design:type', type.prototype as object, name) === Array ||
    rules.some((rule) => rule.each || rule.name === 'isArray')
  );
}

/**
 * The plain case, by far the most frequent: conditions, and rules of one value each. It tells no more
 * than whether all is well; the words for what is not are class-validator's.
 * @param onPromise told of a rule that has to be waited for, which not each of them says of itself
 */
function compileProperty(
  name: string,
  rules: readonly RuleMetadata[],
  onPromise: () => void,
): Test | undefined {
  const conditions: ((instance: object, value: unknown) => boolean)[] = [];
  const tests: ((instance: Members, value: unknown) => boolean)[] = [];
  for (const rule of rules) {
    if (rule.each || rule.groups?.length > 0 || rule.always || rule.validateIf) return undefined;
    if (rule.type === 'conditionalValidation') {
      conditions.push(rule.constraints[0] as (typeof conditions)[number]);
    } else if (rule.type === 'customValidation') {
      const constraint = constraintOf(rule);
      if (constraint === undefined) return undefined;
      tests.push((object, value) => {
        const kept = constraint().validate(value, argumentsOf(rule, object, value));
        if (!(kept instanceof Promise)) return kept === true;
        onPromise();
        // Asked again by who waits for it.
        kept.catch(() => undefined);
        return false;
      });
    } else if (rule.type !== 'whitelistValidation') {
      return undefined;
    }
  }
  return (instance) => {
    const value = instance[name];
    if (!conditions.every((condition) => condition(instance, value))) return true;
    return tests.every((test) => test(instance, value));
  };
}

let applications = 0;

/** A guest's rules may be of the container that an application names: one that is made asks for them anew. */
export function askForRulesAnew(): void {
  applications++;
}

/** Made when it is first asked: by the container that the application may be about to name. */
function constraintOf(rule: RuleMetadata): (() => ValidatorConstraintInterface) | undefined {
  const found = getMetadataStorage().getTargetValidatorConstraints(rule.constraintCls);
  const [constraint] = found;
  if (found.length !== 1 || constraint === undefined || constraint.async) return undefined;
  let madeFor = -1;
  let made: ValidatorConstraintInterface;
  return () => {
    if (madeFor !== applications) made = constraint.instance;
    madeFor = applications;
    return made;
  };
}

function argumentsOf(rule: RuleMetadata, object: Members, value: unknown): ValidationArguments {
  return {
    targetName: object.constructor.name,
    property: rule.propertyName,
    object,
    value,
    constraints: rule.constraints as unknown[],
  };
}
