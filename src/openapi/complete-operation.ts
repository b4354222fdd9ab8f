import { StreamableFile } from '@nestjs/common';
import { HTTP_CODE_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { ErrorDefinition } from '../errors/api-error.js';
import { API_ERRORS, type DocumentedError } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import type { Operation } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import type { Handler } from '../http/request.js';
import { PAGE_SCHEMA } from '../input/api-page.decorator.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { requiredScopesOf } from '../keys/scope.guard.js';
import { SEPARATE_QUOTA } from '../rate-limits/limits.js';
import { headersOf } from './headers.js';

export const JSON_TYPE = 'application/json';
const SCHEMAS = '#/components/schemas/';
export const ERROR_SCHEMA = { $ref: `${SCHEMAS}Error` };
const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

interface MediaObject {
  schema?: { $ref?: string; items?: { $ref?: string } };
  example?: unknown;
  examples?: object;
}

interface ResponseObject {
  description?: string;
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, MediaObject>;
}

export interface OperationObject {
  operationId?: string;
  parameters?: { name?: string }[];
  requestBody?: { required?: boolean; content: Record<string, MediaObject> };
  responses: Record<string, ResponseObject>;
  security?: object[];
  servers?: object[];
  'x-sunset'?: unknown;
}

/** Schemas by name. */
export type Schemas = Record<string, Schema>;
interface Schema {
  type?: unknown;
  description?: string | undefined;
  maxItems?: number;
  required?: readonly string[];
  additionalProperties?: unknown;
  properties?: Record<string, { enum?: readonly string[] }>;
}

/** Errors of every operation. */
const ALWAYS = {
  400: 'The request is invalid. The message lists the errors.',
  405: 'The resource does not support the method.',
  500: 'The service failed. Report the `X-Request-Id` to the operator.',
  503: 'Temporarily unavailable. Retry after `Retry-After`; a POST only with an `Idempotency-Key`.',
};
/** Further errors of operations that require a key. */
const WITH_KEY = {
  401: 'Missing or invalid API key.',
  429: 'Too many requests. Retry after the time in `Retry-After`.',
};
/** Further errors of operations that take a body. */
const WITH_BODY = {
  413: 'The body exceeds 64 KiB.',
  415: 'The body must be `application/json` in UTF-8, without content encoding.',
};

/**
 * Adds to an operation what applies to every operation: security, responses, headers, an example of
 * each error.
 * @param schemas of the document
 * @param declared every error, by its code
 * @param scheme the security scheme of operations that are not public
 * @returns the error codes that the operation documents
 */
export function completeOperation(
  object: OperationObject,
  operation: Operation,
  schemas: Schemas,
  declared: ReadonlyMap<string, ErrorDefinition>,
  scheme: string,
): string[] {
  const { responses } = object;
  const { controller, handler } = operation;
  const isOpen = isPublic(controller);
  const hasQuota = !isOpen && scheme === BEARER_SCHEME;
  const scopes = requiredScopesOf(handler, controller) ?? [];
  object.security = isOpen ? [] : [{ [scheme]: scopes }];
  addSuccess(object, operation);
  if (hasQuota) addCondition(object, operation);
  const own = errorsOf(operation, declared);
  addOwnResponses(object, own);
  const general = addGeneralResponses(object, handler, isOpen ? undefined : scopes);
  const documented = [...general, ...own];
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(object, status, !hasQuota, response.headers);
    if (isError(status)) addExamples(response, Number(status), documented);
  }
  responses['default'] ??= { $ref: '#/components/responses/OtherError' };
  namePage(object, handler, schemas);
  completeBody(object, schemas);
  return documented.map(({ code }) => code);
}

/** The errors that `@ApiErrors()` documents. `checkApplication` has found every code. */
function errorsOf(
  { handler, controller }: Operation,
  declared: ReadonlyMap<string, ErrorDefinition>,
): ErrorDefinition[] {
  const noted = new Reflector().getAllAndMerge<DocumentedError[]>(API_ERRORS, [
    handler,
    controller,
  ]);
  return noted.map((each) => (typeof each === 'string' ? declared.get(each)! : each));
}

/** Describes the errors of a status together, unless the operation describes the status itself. */
function addOwnResponses({ responses }: OperationObject, errors: readonly ErrorDefinition[]): void {
  for (const { status } of errors) {
    const meanings = errors.filter((each) => each.status === status).map((each) => each.meaning);
    responses[status] ??= { description: meanings.join(' ') };
  }
}

/** The generator adds no successful response to an operation that documents only errors. */
function addSuccess({ responses }: OperationObject, { handler, method }: Operation): void {
  if (!Object.keys(responses).every(isError)) return;
  const declared = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  responses[declared ?? (method === 'POST' ? 201 : 200)] = { description: '' };
}

/** A read with a JSON body has an `ETag`. */
function addCondition(object: OperationObject, operation: Operation): void {
  const { responses } = object;
  const isVolatile = Reflect.hasMetadata(SEPARATE_QUOTA, operation.handler);
  if (operation.method !== 'GET' || isVolatile || !hasJson(object, operation)) return;
  const condition = {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a response that the client has; if it is current: 304.',
    schema: { type: 'string' },
  };
  object.parameters ??= [];
  object.parameters.push(condition);
  responses[304] ??= { description: 'The response that the client has is current.' };
}

/** What the method returns decides if the operation documents no body. */
function hasJson({ responses }: OperationObject, operation: Operation): boolean {
  const { controller, handler, key } = operation;
  const { 200: success } = responses;
  const prototype = controller.prototype as object;
  const returned: unknown = Reflect.getMetadata('design:returntype', prototype, key);
  if (returned === StreamableFile || Reflect.hasMetadata(SSE_METADATA, handler)) return false;
  if (success?.content !== undefined) return JSON_TYPE in success.content;
  return success !== undefined && returned !== String;
}

/**
 * @param scopes undefined for a public operation
 * @returns the errors that the guards and pipes of the service cause
 */
function addGeneralResponses(
  { responses, requestBody }: OperationObject,
  handler: Handler,
  scopes: string[] | undefined,
): ErrorDefinition[] {
  const list = scopes?.map((scope) => `\`${scope}\``).join(', ');
  const general: Record<string, string> = {
    ...ALWAYS,
    ...(scopes && WITH_KEY),
    ...(list && { 403: `The API key lacks the scope ${list}.` }),
    ...(requestBody && WITH_BODY),
  };
  for (const [status, description] of Object.entries(general)) {
    responses[status] ??= { description };
  }
  const excluded = [
    requestBody === undefined && 'malformed_json',
    Reflect.hasMetadata(SEPARATE_QUOTA, handler) && 'key_banned',
  ];
  return Object.values<ErrorDefinition>(errors).filter(
    ({ code, status }) => status in general && !excluded.includes(code),
  );
}

/** Adds an example of each code, unless the operation documents another body. */
function addExamples(
  response: ResponseObject,
  ofStatus: number,
  documented: readonly ErrorDefinition[],
): void {
  response.content ??= { [JSON_TYPE]: { schema: ERROR_SCHEMA } };
  const media = response.content[JSON_TYPE];
  if (media?.schema?.$ref !== ERROR_SCHEMA.$ref || media.example !== undefined) return;
  media.examples ??= Object.fromEntries(
    documented
      .filter(({ status }) => status === ofStatus)
      .map(({ code, status, meaning }) => [
        code,
        { summary: meaning, value: { code, message: meaning, status } },
      ]),
  );
}

/** Not for `default`. */
function isError(status: string): boolean {
  return Number(status) >= 400;
}

/** Refers to the schema that `@ApiPage()` names instead of repeating the array. */
function namePage({ responses }: OperationObject, handler: Handler, schemas: Schemas): void {
  const name = Reflect.getMetadata(PAGE_SCHEMA, handler) as string | undefined;
  const { description, content } = responses[200] ?? {};
  const media = content?.[JSON_TYPE];
  if (name === undefined || media?.schema === undefined) return;
  schemas[name] = { ...media.schema, maxItems: 100, description };
  media.schema = { $ref: SCHEMAS + name };
}

/** Completes the schema of the body of the request. */
function completeBody({ requestBody }: OperationObject, schemas: Schemas): void {
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
