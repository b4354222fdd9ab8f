import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type Dto, dtoOf } from './dto.js';
import { areThereLaterJudges, isJudgedLater, withOrigin } from './later-pipes.js';
import type { SchemaIssue, StandardSchema } from './operation-input.js';
import { invalidRequest, validated } from './validation.js';

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

type Members = Record<string, unknown>;

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
  const known: Members = {};
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
