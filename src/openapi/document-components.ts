import { STATUS_CODES } from 'node:http';
import { NEST_CODES } from '../errors/errors.js';
import { ERROR_SCHEMA, type OperationObject } from './complete-operation.js';
import { headerReference } from './headers.js';

const PET = '#/components/schemas/Pet';

/** The response of every status that an operation does not list. */
export function otherError(): object {
  const list = NEST_CODES.map(({ code, status }) => `\`${code}\` (${status})`).join(', ');
  const { code, status } = NEST_CODES[0]!;
  return {
    description: `Any other error. \`code\` is a code of the table above, or the name of the HTTP status: ${list}.`,
    headers: { 'X-Request-Id': headerReference('X-Request-Id') },
    content: {
      'application/json': {
        schema: ERROR_SCHEMA,
        example: { code, message: STATUS_CODES[status], status },
      },
    },
  };
}

/** The schemas that the generator does not produce. @param codes known error codes */
export function furtherSchemas(codes: Iterable<string>): Record<string, object> {
  return {
    Pets: { type: 'array', maxItems: 100, items: { $ref: PET }, description: 'A page of pets.' },
    // Not an enum: a generated client with a closed enum would reject a new code.
    ErrorCode: {
      type: 'string',
      description:
        'Machine-readable error code. More codes may be added: handle an unknown code by its status.',
      'x-extensible-enum': [...codes],
    },
  };
}

/**
 * Refers to `Pets` instead of repeating the array. Closes the schema of the body: unknown members
 * are an error.
 */
export function completeSchemas(operation: OperationObject, schemas: Record<string, object>): void {
  for (const { content } of Object.values(operation.responses)) {
    const media = content?.['application/json'];
    const schema = media?.schema as { items?: { $ref?: string } } | undefined;
    if (schema?.items?.$ref === PET) media!.schema = { $ref: '#/components/schemas/Pets' };
  }
  const { $ref } = operation.requestBody?.content['application/json']?.schema ?? {};
  const body = schemas[$ref?.split('/').at(-1) ?? ''];
  if (body !== undefined) Object.assign(body, { additionalProperties: false });
}
