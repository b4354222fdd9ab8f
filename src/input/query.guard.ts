import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { FallbackController } from '../http/fallback.controller.js';
import { FROM } from '../http/nest-metadata.js';
import { type Handler, isPublic, PerOperation, requestOf } from '../http/request-context.js';
import { type Dto, dtoOf } from './dto.js';
import { isListSchema } from './list-schema.js';
import { documentedQuery, parametersOf, type StandardSchema } from './operation-input.js';
import { namesWithoutUse } from './undeclared-names.js';
import { type Examination, examine, invalidRequest, shown } from './validation.js';

type Query = Readonly<Record<string, unknown>>;

/**
 * @property names what may be sent, and whether it is a list
 * @property schemas those that do not tell what else may be
 */
interface DeclaredQuery {
  names: ReadonlyMap<string, boolean>;
  dto: Dto | undefined;
  schemas: readonly StandardSchema[];
}

/** What an operation declares it may be asked with, and each parameter once; nothing else. */
@Injectable()
export class QueryGuard implements CanActivate {
  private readonly declared = new PerOperation(declaredQueryOf);

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const query = requestOf(context).query as Query;
    const names = Object.keys(query);
    if (names.length === 0) return true;
    return this.judge(query, names, this.declared.of(context));
  }

  private judge(
    query: Query,
    names: string[],
    declared: DeclaredQuery | undefined,
  ): boolean | Promise<boolean> {
    if (declared === undefined) return true;
    for (const name of names) {
      const isList = declared.names.get(name);
      if (isList === undefined || (Array.isArray(query[name]) && !isList)) {
        return declared.schemas.length === 0
          ? refuse(query, names, declared)
          : judgeBySchemas(query, names, declared);
      }
    }
    return true;
  }
}

/** What no declaration names may be what a schema takes without telling. */
async function judgeBySchemas(
  query: Query,
  names: string[],
  declared: DeclaredQuery,
): Promise<boolean> {
  const undeclared = names.filter((name) => !declared.names.has(name));
  const useless = await namesWithoutUse(declared.schemas, query, undeclared);
  const taken = new Map(declared.names);
  // Whether it may be a list the schema has judged.
  for (const name of undeclared) taken.set(name, true);
  for (const name of useless) taken.delete(name);
  const isOnce = names.every((name) => taken.get(name) || !Array.isArray(query[name]));
  if (isOnce && useless.length === 0) return true;
  return refuse(query, names, { ...declared, names: taken });
}

/** Names every fault, those of the values included: a caller mends them all at once. */
async function refuse(query: Query, names: string[], declared: DeclaredQuery): Promise<never> {
  const faults: string[] = [];
  const repeated = new Set<string>();
  const known: Record<string, unknown> = {};
  for (const name of names) {
    const value = query[name];
    const isList = declared.names.get(name);
    if (isList === undefined) {
      faults.push(`${shown(name)} is not a known query parameter`);
      continue;
    }
    const isRepeated = Array.isArray(value) && !isList;
    if (isRepeated) {
      faults.push(`${name} is given twice`);
      repeated.add(name);
    }
    // The rules of others may ask for it.
    if (declared.dto?.names.has(name)) known[name] = isRepeated ? (value[0] as unknown) : value;
  }
  const { dto } = declared;
  const examination: Pick<Examination, 'faults'> =
    dto === undefined ? { faults: [] } : await examine(dto, known);
  const others = examination.faults.filter(({ property }) => !repeated.has(property));
  throw invalidRequest([...faults, ...others.map(({ message }) => message)]);
}

/** Undefined where anything may be asked, as far as this guard can tell. */
function declaredQueryOf(controller: Type, handler: Handler): DeclaredQuery | undefined {
  if (controller === FallbackController || isPublic(controller)) return undefined;
  const names = new Map<string, boolean>(documentedQuery(controller, handler));
  const schemas: StandardSchema[] = [];
  let ofAll: Dto | undefined;
  for (const { from, name, metatype, schema } of parametersOf(controller, handler)) {
    if (from !== FROM.query) continue;
    if (name !== undefined) {
      names.set(name, names.get(name) === true || metatype === Array || takesList(schema));
      continue;
    }
    const members = schema === undefined ? [] : membersOf(schema);
    if (members === undefined) {
      schemas.push(schema!);
      continue;
    }
    for (const [member, isList] of members) names.set(member, isList);
    const dto = schema === undefined ? dtoOf(metatype) : undefined;
    for (const member of dto?.names ?? []) names.set(member, dto!.lists.has(member));
    ofAll ??= dto;
  }
  return { names, dto: ofAll, schemas };
}

/** The members that a schema declares; undefined where it takes others as well, or cannot tell. */
function membersOf(schema: StandardSchema): [string, boolean][] | undefined {
  const entries = entriesOf(schema);
  // Whether it may be a list the schema judges.
  if (entries !== undefined) return Object.keys(entries).map((name) => [name, true]);
  const whole = jsonSchemaOf(schema);
  const { properties, additionalProperties } = whole;
  if (typeof properties !== 'object' || properties === null) return undefined;
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
  return Object.entries(properties).map(([name, member]) => [name, isListSchema(member, whole)]);
}

/** Of Valibot, which has no JSON Schema in it, what an object takes where it takes nothing else. */
function entriesOf(schema: StandardSchema): object | undefined {
  const { type, entries } = schema as { type?: unknown; entries?: unknown };
  if (schema['~standard'].vendor !== 'valibot' || typeof entries !== 'object') return undefined;
  return type === 'object' || type === 'strict_object' ? (entries ?? undefined) : undefined;
}

function takesList(schema: StandardSchema | undefined): boolean {
  if (schema === undefined) return false;
  const whole = jsonSchemaOf(schema);
  return isListSchema(whole, whole);
}

function jsonSchemaOf(schema: StandardSchema): Record<string, unknown> {
  try {
    // What it cannot say may be anything: Zod's own option.
    const options = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } };
    return schema['~standard'].jsonSchema?.input?.(options) ?? {};
  } catch {
    return {}; // Not everything that can be checked can be said in JSON Schema.
  }
}
