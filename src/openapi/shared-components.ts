import type { OpenAPIObject } from '@nestjs/swagger';
import { ERROR_CODES, type ErrorCode } from '../http/api-error.js';
import { headerComponents, headersOf } from './headers.js';

type SchemaObject = Record<string, unknown>;
type Responses = Record<string, ResponseObject>;
interface ResponseObject {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}
interface OperationObject {
  operationId?: string;
  deprecated?: boolean;
  requestBody?: { content: Record<string, { schema?: { $ref?: string } }> };
  responses: Responses;
}

/** Errors that any operation may answer with. */
const ON_EVERY_OPERATION: Record<string, string> = {
  400: 'The request is not valid: the message names each fault.',
  401: 'Missing or invalid API key.',
  405: 'The resource has no such method.',
  429: 'Too many requests; retry after the time given in `Retry-After`.',
  500: 'The service failed; its log names the `X-Request-Id`.',
  503: 'The service cannot answer now; retry after the time given in `Retry-After`.',
};

/** Errors that any operation with a body may answer with. */
const ON_EVERY_BODY: Record<string, string> = {
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not UTF-8 JSON.',
};

/** Adds to a generated document what holds for every operation, so that no operation repeats it. */
export function completeDocument(document: OpenAPIObject): OpenAPIObject {
  const components = (document.components ??= {});
  components.headers = headerComponents();
  const schemas = (components.schemas ??= {}) as Record<string, SchemaObject>;
  schemas['Pets'] = {
    type: 'array',
    maxItems: 100,
    items: { $ref: '#/components/schemas/Pet' },
    description: 'A page of animals.',
  };
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item as Record<string, unknown>)) {
      if (!isOperation(operation)) continue;
      completeOperation(operation);
      closeBody(operation, schemas);
    }
  }
  return document;
}

function completeOperation(operation: OperationObject): void {
  const { responses } = operation;
  const errors = { ...ON_EVERY_OPERATION, ...(operation.requestBody && ON_EVERY_BODY) };
  for (const [status, description] of Object.entries(errors)) {
    responses[status] ??= { description };
  }
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(operation, status);
    if (Number(status) >= 400) response.content = errorContent(Number(status), operation);
    else usePetsSchema(response);
  }
}

/** A body takes no members but the declared ones. */
function closeBody({ requestBody }: OperationObject, schemas: Record<string, SchemaObject>): void {
  const name = requestBody?.content['application/json']?.schema?.$ref?.split('/').at(-1);
  const schema = name === undefined ? undefined : schemas[name];
  if (schema !== undefined) schema.additionalProperties = false;
}

/** One example per code that the operation may answer with. */
function errorContent(status: number, operation: OperationObject): Record<string, unknown> {
  const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter(
    (code) => ERROR_CODES[code].status === status && isAnsweredBy(operation, code),
  );
  const examples = Object.fromEntries(
    codes.map((code) => [code, { value: { code, message: ERROR_CODES[code].meaning, status } }]),
  );
  return {
    'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples },
  };
}

function isAnsweredBy({ operationId, requestBody }: OperationObject, code: ErrorCode): boolean {
  if (code === 'malformed_json') return requestBody !== undefined;
  if (code === 'pet_not_found') return operationId === 'getPet';
  if (code === 'not_found') return operationId !== 'getPet';
  return true;
}

/** The specification names the array; the generator writes it out. */
function usePetsSchema(response: ResponseObject): void {
  const media = response.content?.['application/json'] as { schema?: unknown } | undefined;
  if (media === undefined) return;
  const schema = media.schema as { type?: string; items?: { $ref?: string } } | undefined;
  if (schema?.type === 'array' && schema.items?.$ref === '#/components/schemas/Pet') {
    media.schema = { $ref: '#/components/schemas/Pets' };
  }
}

function isOperation(value: unknown): value is OperationObject {
  return typeof value === 'object' && value !== null && 'responses' in value;
}
