import {
  type ArgumentMetadata,
  HttpException,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import {
  registerDecorator,
  validate,
  ValidateIf,
  validateSync,
  type ValidationArguments,
  type ValidationError,
} from 'class-validator';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { type Dto, dtoOf } from './dto.js';
import type { InParts } from './in-parts.js';
import { areThereLaterJudges, isJudgedLater, withOrigin } from './later-pipes.js';
import type { SchemaIssue, StandardSchema } from './operation-input.js';
import { madeOf, memberOf, undeclaredBelow } from './undeclared-members.js';

/**
 * Judges what goes into a DTO with rules, or is declared with a schema; everything else is what Nest
 * gives. It comes before a guest's own pipes.
 */
@Injectable()
export class InputPipe implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    const { type, data, metatype } = metadata;
    if (type === 'custom') return value;
    const { schema } = metadata as { schema?: StandardSchema };
    if (schema !== undefined) {
      return isJudgedLater(schema) ? value : conformed(schema, value, metadata);
    }
    // One value of a path or a query is not yet what a pipe behind this one makes of it.
    if (type !== 'body' && data !== undefined) return value;
    const dto = dtoOf(metatype);
    if (dto === undefined) return value;
    const sent = type === 'body' ? membersOf(value, data) : namedBy(dto, value as Members);
    return judged(dto, sent, metatype);
  }
}

function judged(dto: Dto, sent: Members, type: unknown): object | Promise<object> {
  if (!areThereLaterJudges) return validated(dto, sent);
  return withOrigin(dto, sent, () =>
    validated(dto, sent, dto.parts === undefined || !isJudgedLater(type)),
  );
}

function membersOf(value: unknown, name: string | undefined): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  if (name === undefined) throw invalidRequest(['The body must be a JSON object']);
  throw invalidRequest([value === undefined ? `${name} is required` : `${name} must be an object`]);
}

/**
 * The names of a path are the controller's, and those of a query have been judged: what is not this DTO's is
 * another parameter's.
 */
function namedBy({ names }: Dto, values: Members): Members {
  const known: Record<string, unknown> = {};
  for (const name in values) if (names.has(name)) known[name] = values[name];
  return known;
}

async function conformed(
  schema: StandardSchema,
  value: unknown,
  { data }: ArgumentMetadata,
): Promise<unknown> {
  const result = await schema['~standard'].validate(value);
  if (result.issues !== undefined) {
    throw invalidRequest(result.issues.map((issue) => messageOf(issue, data)));
  }
  return result.value;
}

function messageOf({ path = [], message }: SchemaIssue, name: string | undefined): string {
  const segments = path.map((segment) =>
    String(typeof segment === 'object' ? segment.key : segment),
  );
  const where = [...(name === undefined ? [] : [name]), ...segments].join('.');
  return where === '' ? message : `${where}: ${message}`;
}

const MAX_NAME_SHOWN = 40;

/** Names that have a meaning to JavaScript itself. No object that a caller sends has them. */
export const RESERVED_NAMES: readonly string[] = ['__proto__', 'constructor'];

type Members = Readonly<Record<string, unknown>>;

/** What is wrong with one member, in words. */
export interface Fault {
  /** The member of the outermost object. */
  property: string;
  message: string;
}

/**
 * @property faults none where `instance` keeps every rule
 * @property cause why there is no whole instance
 */
export interface Examination {
  instance: object;
  faults: readonly Fault[];
  cause?: unknown;
}

const NO_FAULTS: readonly Fault[] = [];

/**
 * A fresh instance of `dto` made of `members`, each declared and within its constraints. Names are
 * compared as they were sent, level by level: class-transformer would lose some without a word.
 * @param areRulesOurs false where a guest's pipe judges by them
 * @throws {ApiError} 400 `invalid_request` that names each fault
 */
export function validated(
  dto: Dto,
  members: Members,
  areRulesOurs = true,
): object | Promise<object> {
  const unknown = Object.keys(members).filter((name) => !dto.names.has(name));
  if (unknown.length === 0) return concluded(examine(dto, members, areRulesOurs), []);
  const known = Object.entries(members).filter(([name]) => dto.names.has(name));
  return concluded(
    examine(dto, Object.fromEntries(known), areRulesOurs),
    unknown.map((name) => `${shown(name)} is not a known member`),
  );
}

function concluded(
  examination: Examination | Promise<Examination>,
  faults: readonly string[],
): object | Promise<object> {
  if (examination instanceof Promise) return examination.then((each) => conclude(each, faults));
  return conclude(examination, faults);
}

function conclude({ instance, faults, cause }: Examination, others: readonly string[]): object {
  if (faults.length === 0 && others.length === 0) return instance;
  throw invalidRequest([...others, ...faults.map(({ message }) => message)], cause);
}

/** Judges `members`, all of them declared, by the rules of `dto`. */
export function examine(
  dto: Dto,
  members: Members,
  areRulesOurs = true,
): Examination | Promise<Examination> {
  for (const name in members) {
    const value = members[name];
    if (typeof value === 'object' && value !== null) {
      return examineDeeply(dto, members, areRulesOurs);
    }
  }
  const instance = instanceOf(dto, members);
  if (instance instanceof Unmade) return examineUnmade(instance, areRulesOurs);
  if (!areRulesOurs) return { instance, faults: NO_FAULTS };
  if (dto.holds === undefined) return examineByRules(instance);
  if (dto.holds(instance as Members)) return { instance, faults: NO_FAULTS };
  if (isToBeWaitedFor(dto)) return examineByRules(instance);
  return { instance, faults: validateSync(instance, OPTIONS).flatMap((error) => faultsOf(error)) };
}

/** It shows when such a rule is first asked. */
function isToBeWaitedFor({ holds }: Dto): boolean {
  return holds === undefined;
}

/** What no instance could be made of. */
class Unmade {
  constructor(
    readonly cause: unknown,
    /** What was made of the rest. */
    readonly instance: object,
    /** Members that are not in it, or not to be judged by it. */
    readonly unjudged: ReadonlySet<string>,
    readonly faults: readonly Fault[],
  ) {}
}

/** What a transformation cannot take, such as a number that it trims, is the caller's fault and not the service's. */
function instanceOf(dto: Dto, members: Members): object {
  try {
    return dto.make(members);
  } catch (cause) {
    if (cause instanceof HttpException || dto.parts === undefined) throw cause;
    return unmade(dto, dto.parts, members, cause);
  }
}

function unmade(dto: Dto, parts: InParts, members: Members, cause: unknown): Unmade {
  const culprits = new Set(parts.unmakeable(members));
  const faults = Array.from(dto.names)
    .filter((name) => culprits.size === 0 || culprits.has(memberOf(dto, name)))
    .map((name) => ({ property: name, message: whyUnmade(name, members) }));
  const unjudged = new Set(culprits);
  // To make an instance twice may be to make another one: class-transformer takes out of an object what told its class.
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === 'object' && value !== null) unjudged.add(memberOf(dto, name));
  }
  const instance = parts.make(members, (member) => culprits.has(member));
  return new Unmade(cause, instance, unjudged, faults);
}

function whyUnmade(name: string, members: Members): string {
  return Object.hasOwn(members, name)
    ? `${shown(name)} has a value that cannot be read`
    : `${name} is required`;
}

async function examineUnmade(
  { cause, instance, unjudged, faults }: Unmade,
  areRulesOurs: boolean,
): Promise<Examination> {
  if (!areRulesOurs) return { instance, faults, cause };
  const others = (await examineByRules(instance)).faults;
  const judged = others.filter(({ property }) => !unjudged.has(property));
  return { instance, faults: [...faults, ...judged], cause };
}

function examineDeeply(
  dto: Dto,
  members: Members,
  areRulesOurs: boolean,
): Examination | Promise<Examination> {
  const reserved = Object.entries(members).flatMap(([property, value]) =>
    reservedNames(value).map((name) => unknownMember(property, `${property}.${name}`)),
  );
  // Nothing is made of these: they would be taken for what JavaScript takes them for.
  if (reserved.length > 0) return { instance: {}, faults: reserved };
  const instance = instanceOf(dto, members);
  if (instance instanceof Unmade) return examineUnmade(instance, areRulesOurs);
  const unknown = Object.keys(members).flatMap((property) =>
    undeclaredBelow(members[property], madeOf(dto, instance, property), property).map((path) =>
      unknownMember(property, path),
    ),
  );
  if (!areRulesOurs) return { instance, faults: unknown };
  if (unknown.length === 0) return examineByRules(instance);
  return examineByRules(instance).then(({ faults }) => ({
    instance,
    faults: [...unknown, ...faults],
  }));
}

function unknownMember(property: string, path: string): Fault {
  return { property, message: `${shown(path)} is not a known member` };
}

const OPTIONS = { forbidUnknownValues: false };

async function examineByRules(instance: object): Promise<Examination> {
  const found = await validate(instance, OPTIONS);
  return { instance, faults: found.flatMap((error) => faultsOf(error)) };
}

/** The reserved names that a value has at any depth, each with the path to it. */
export function reservedNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const below = reservedNames(member).map((path) => `${name}.${path}`);
    return RESERVED_NAMES.includes(name) && !Array.isArray(value) ? [name, ...below] : below;
  });
}

/** Each fault is named: a request is bounded, and so is how many it can have. */
export function invalidRequest(faults: readonly string[], cause?: unknown): ApiError {
  return errors.invalid_request(faults.join('; '), { cause });
}

/** A name of the caller's own, short enough to be repeated to it. */
export function shown(name: string): string {
  const text = name.length > MAX_NAME_SHOWN ? `${name.slice(0, MAX_NAME_SHOWN)}...` : name;
  return JSON.stringify(text.toWellFormed());
}

/** A constraint of our own: `expected` completes "NAME must be ...". */
export function constrain<Whole extends object>(
  name: string,
  expected: string,
  holds: (value: unknown, whole: Whole) => boolean,
) {
  return (target: object, propertyName: string | symbol): void => {
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: propertyName as string,
      validator: {
        validate: (value: unknown, asked?: ValidationArguments) =>
          holds(value, asked!.object as Whole),
        defaultMessage: ({ property, value }: ValidationArguments) =>
          value === undefined ? `${property} is required` : `${property} must be ${expected}`,
      },
    });
  };
}

/** May be left out. Unlike `@IsOptional()`, a `null` is not left out. */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_object, value) => value !== undefined);
}

function faultsOf(error: ValidationError, parent = '', property = error.property): Fault[] {
  const own = Object.values(error.constraints ?? {}).map((message) => ({
    property,
    message: `${parent}${message}`,
  }));
  const path = `${parent}${error.property}.`;
  return [...own, ...(error.children ?? []).flatMap((child) => faultsOf(child, path, property))];
}
