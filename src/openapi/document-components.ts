import { STATUS_CODES } from 'node:http';
import { NEST_CODES } from '../errors/errors.js';
import { ERROR_SCHEMA, JSON_TYPE, type OperationObject } from './complete-operation.js';
import { headerReference } from './headers.js';

const SCHEMAS = '#/components/schemas/';
const PET = `${SCHEMAS}Pet`;
const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

/** Schemas by name. */
export type Schemas = Record<string, Schema>;
interface Schema {
  type?: unknown;
  required?: readonly string[];
  additionalProperties?: unknown;
  properties?: Record<string, { enum?: readonly string[] }>;
}

/** The response of every status that an operation does not list. */
export function otherError(): object {
  const list = NEST_CODES.map(({ code, status }) => `\`${code}\` (${status})`).join(', ');
  const { code, status } = NEST_CODES[0]!;
  return {
    description: `Any other error. \`code\` is listed above, or the name of the status: ${list}.`,
    headers: { 'X-Request-Id': headerReference('X-Request-Id') },
    content: {
      [JSON_TYPE]: {
        schema: ERROR_SCHEMA,
        example: { code, message: STATUS_CODES[status], status },
      },
    },
  };
}

/** The schemas that the generator does not produce. @param codes known error codes */
export function furtherSchemas(codes: Iterable<string>, isAdmin: boolean): Record<string, object> {
  const pets = {
    Pets: { type: 'array', maxItems: 100, items: { $ref: PET }, description: 'A page of pets.' },
  };
  return {
    ...(!isAdmin && pets),
    // Not an enum: a generated client with a closed enum would reject a new code.
    ErrorCode: {
      type: 'string',
      description: 'Machine-readable. Codes may be added: handle an unknown code by its status.',
      'x-extensible-enum': [...codes],
    },
  };
}

/** Refers to `Pets` instead of repeating the array. */
export function nameLists({ responses }: OperationObject): void {
  for (const { content } of Object.values(responses)) {
    const media = content?.[JSON_TYPE];
    if (media?.schema?.items?.$ref === PET) media.schema = { $ref: `${SCHEMAS}Pets` };
  }
}

/** Completes the schema of the body of the request. */
export function completeBody({ requestBody }: OperationObject, schemas: Schemas): void {
  const schema = requestBody?.content[JSON_TYPE]?.schema;
  const body = schemas[schema?.$ref?.slice(SCHEMAS.length) ?? ''];
  if (requestBody === undefined || body === undefined) return;
  // The service accepts a request without a body if the body has no required member.
  if (!body.required?.length) requestBody.required = false;
  close(schema!, schemas);
}

/** Unknown members are an error, in nested objects as well. */
function close(part: object, schemas: Schemas): void {
  for (const [, name] of JSON.stringify(part).matchAll(REFERENCE)) {
    const schema = schemas[name!];
    if (schema?.type !== 'object' || schema.additionalProperties !== undefined) continue;
    schema.additionalProperties = false;
    close(schema, schemas);
  }
}
