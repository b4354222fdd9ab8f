import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorDefinition } from '../errors/api-error.js';
import { ERROR_EXTENSION } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { SCOPES_EXTENSION } from '../keys/scope.guard.js';
import { SEPARATE_QUOTA_EXTENSION } from '../rate-limits/separate-quota.decorator.js';
import { headerComponents, headersOf } from './headers.js';

const JSON_TYPE = 'application/json';
const ERROR_SCHEMA = '#/components/schemas/Error';
/** What OpenAPI calls the responses of all other statuses. */
const OTHERS = 'default';

type Server = NonNullable<OpenAPIObject['servers']>[number];
type SchemaObject = Record<string, unknown>;
type Responses = Record<string, ResponseObject>;
interface ResponseObject {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, unknown>;
}
interface OperationObject {
  operationId?: string;
  parameters?: { name?: string }[];
  requestBody?: { content: Record<string, { schema?: { $ref?: string } }> };
  responses: Responses;
  security?: Record<string, readonly string[]>[];
  servers?: Server[];
}

/** How it is told of an operation that is outside `/v1`, and open to everyone. */
export const PUBLIC_EXTENSION = 'x-petstore-public';

/** Errors that any operation may answer with. */
const ON_ANY_OPERATION: Record<string, string> = {
  400: 'The request is not valid: the message names each fault.',
  405: 'The resource has no such method.',
  500: 'The service failed; its log names the `X-Request-Id`.',
  503: 'The service cannot answer now; retry after the time given in `Retry-After`.',
};

/** Besides, those that any operation with a key may answer with. */
const ON_EVERY_OPERATION: Record<string, string> = {
  ...ON_ANY_OPERATION,
  401: 'Missing or invalid API key.',
  429: 'Too many requests; retry after the time given in `Retry-After`.',
};

/** Errors that any operation with a body may answer with. */
const ON_EVERY_BODY: Record<string, string> = {
  413: 'The body is larger than 64 KiB.',
  415: 'The body is not UTF-8 JSON.',
};

/** Of ours, what the generator does not see. */
export function addOwnSchemas(document: OpenAPIObject): void {
  schemasOf(document)['Pets'] = {
    type: 'array',
    maxItems: 100,
    items: { $ref: '#/components/schemas/Pet' },
    description: 'A page of animals.',
  };
}

/** Adds to a generated document what holds for every operation, so that no operation repeats it. */
export function completeDocument(document: OpenAPIObject): OpenAPIObject {
  const schemas = schemasOf(document);
  document.components!.headers = headerComponents();
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item as Record<string, unknown>)) {
      if (!isOperation(operation)) continue;
      if (isOpen(operation)) operation.servers = origins(document);
      takeScopes(operation);
      const codes = takeErrors(operation);
      nameCodes(codes, schemas);
      completeOperation(operation, codes);
      delete operation[PUBLIC_EXTENSION];
      closeBody(operation, schemas);
    }
  }
  return document;
}

function schemasOf(document: OpenAPIObject): Record<string, SchemaObject> {
  return ((document.components ??= {}).schemas ??= {}) as Record<string, SchemaObject>;
}

function isOpen(operation: Record<string, unknown>): boolean {
  return operation[PUBLIC_EXTENSION] === true;
}

/** The base addresses without their path, for what is beside it. */
function origins({ servers = [] }: OpenAPIObject): Server[] {
  return servers.map(({ url, ...more }) => ({ ...more, url: new URL(url).origin }));
}

/** The codes of guests are among those that an Error may have. */
function nameCodes(
  codes: readonly ErrorDefinition[],
  { ErrorCode: known }: Record<string, SchemaObject>,
): void {
  const names = known?.['enum'] as string[] | undefined;
  for (const { code } of codes) if (names?.includes(code) === false) names.push(code);
}

function completeOperation(
  operation: OperationObject & Record<string, unknown>,
  codes: readonly ErrorDefinition[],
): void {
  const { responses } = operation;
  const errors = { ...generalOf(operation), ...(operation.requestBody && ON_EVERY_BODY) };
  for (const [status, description] of Object.entries(errors)) {
    responses[status] ??= { description };
  }
  foldReusedKey(responses, codes);
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(operation, status, isOpen(operation), response.headers);
    if (Number(status) < 400) usePetsSchema(response);
    else if (!isDescribed(response)) response.content = errorContent(status, codes);
  }
}

/**
 * A 422 that means a reused Idempotency-Key and nothing else is documented among the others. Mock servers and
 * test generators answer what is invalid with 422 wherever one is documented, and ours is 400: decision 11.
 */
function foldReusedKey(responses: Responses, codes: readonly ErrorDefinition[]): void {
  const { code, status } = errors.idempotency_key_reused;
  const response = responses[status];
  const hasOthers = codes.some((error) => error.status === status && error.code !== code);
  if (response === undefined || hasOthers || isDescribed(response) || OTHERS in responses) return;
  delete responses[status];
  responses[OTHERS] = { ...response, description: `${status}: ${response.description}` };
}

function generalOf(operation: Record<string, unknown>): Record<string, string> {
  return isOpen(operation) ? ON_ANY_OPERATION : ON_EVERY_OPERATION;
}

/** Whether a guest says more of an error's body than that it is one. */
function isDescribed({ content }: ResponseObject): boolean {
  return Object.entries(content ?? {}).some(([type, media]) => {
    const { schema, ...more } = media as { schema?: { $ref?: string } };
    return type !== JSON_TYPE || schema?.$ref !== ERROR_SCHEMA || Object.keys(more).length > 0;
  });
}

/** What `@RequireScope` and `@AnyScope` say of the operation. */
function takeScopes(operation: OperationObject & Record<string, unknown>): void {
  const scopes = (operation[SCOPES_EXTENSION] ?? []) as readonly string[];
  delete operation[SCOPES_EXTENSION];
  if (isOpen(operation)) {
    operation.security = [];
    return;
  }
  operation.security = [{ [BEARER_SCHEME]: scopes }];
  if (scopes.length === 0) return;
  const names = scopes.map((scope) => `\`${scope}\``).join(', ');
  operation.responses['403'] ??= { description: `The API key lacks the scope ${names}.` };
}

/** A body takes no members but the declared ones. */
function closeBody({ requestBody }: OperationObject, schemas: Record<string, SchemaObject>): void {
  const name = requestBody?.content['application/json']?.schema?.$ref?.split('/').at(-1);
  const schema = name === undefined ? undefined : schemas[name];
  if (schema !== undefined) schema.additionalProperties = false;
}

/** One example per code that the response may have. */
function errorContent(
  answered: string,
  codes: readonly ErrorDefinition[],
): Record<string, unknown> {
  const ofStatus = codes.filter((error) =>
    answered === OTHERS
      ? error.code === errors.idempotency_key_reused.code
      : error.status === Number(answered),
  );
  const examples = Object.fromEntries(
    ofStatus.map(({ code, status, meaning, example }) => [
      code,
      { summary: meaning, value: { code, message: example ?? meaning, status } },
    ]),
  );
  // Of all codes, those that this response may have: beside the reference, as JSON Schema 2020-12 allows.
  const properties = { code: { enum: ofStatus.map(({ code }) => code) } };
  const isAll = answered !== OTHERS && ofStatus.length > 0;
  const schema = { $ref: ERROR_SCHEMA, ...(isAll && { properties }) };
  return { [JSON_TYPE]: { schema, examples } };
}

/** The codes that an operation declares with `@ApiErrors`, and those of every operation like it. */
function takeErrors(operation: OperationObject & Record<string, unknown>): ErrorDefinition[] {
  const declared = Object.keys(operation)
    .filter((name) => name.startsWith(ERROR_EXTENSION))
    .map((name) => {
      const error = operation[name] as ErrorDefinition;
      delete operation[name];
      return error;
    });
  const onEvery = generalOf(operation);
  const general = Object.values(errors).filter(
    ({ code, status }) =>
      status in onEvery ||
      (operation.requestBody !== undefined && status in ON_EVERY_BODY) ||
      (code === 'insufficient_scope' && '403' in operation.responses) ||
      (code === 'not_found' && !declared.some((other) => other.status === status)),
  );
  const isApart = SEPARATE_QUOTA_EXTENSION in operation;
  delete operation[SEPARATE_QUOTA_EXTENSION];
  const isAnswered = ({ code }: ErrorDefinition) =>
    (code !== 'malformed_json' || operation.requestBody !== undefined) &&
    (code !== 'key_banned' || !isApart);
  return [...new Map([...general, ...declared].map((error) => [error.code, error])).values()]
    .filter(isAnswered)
    .map((error) => ({ ...error, example: exampleFor(operation, error) }));
}

/** The message as this operation would have it, where it speaks of the operation. */
function exampleFor(
  { parameters = [], security = [], requestBody }: OperationObject,
  { code, example }: ErrorDefinition,
): string | undefined {
  const [scope] = security[0]?.[BEARER_SCHEME] ?? [];
  if (code === 'insufficient_scope' && scope !== undefined) {
    return `The API key lacks the scope ${scope}`;
  }
  const takesLimit = parameters.some(({ name }) => name === 'limit');
  if (code === 'invalid_request' && takesLimit) return 'limit must be an integer between 1 and 100';
  if (code === 'invalid_request' && requestBody !== undefined) {
    return '"colour" is not a known member';
  }
  return example;
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

function isOperation(value: unknown): value is OperationObject & Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'responses' in value;
}
