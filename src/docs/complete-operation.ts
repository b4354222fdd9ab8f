import { StreamableFile } from '@nestjs/common';
import { REDIRECT_METADATA, SSE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { ErrorDefinition } from '../core/errors/api-error.js';
import { API_ERRORS, type DocumentedError } from '../core/errors/api-errors.decorator.js';
import { errors } from '../core/errors/errors.js';
import { bodyRulesOfHandler } from '../core/http/body.decorators.js';
import type { Operation } from '../core/http/operations.js';
import type { Handler } from '../core/http/request.js';
import { isPublic } from '../core/http/public.decorator.js';
import { LIST_NAME } from '../core/input/api-page.decorator.js';
import { requiredScopesOf } from '../core/keys/scope.guard.js';
import { SEPARATE_QUOTA } from '../core/rate-limits/limits.js';
import { headersOf } from './headers.js';

const JSON_TYPE = 'application/json';
const SCHEMAS = '#/components/schemas/';
const ERROR_SCHEMA = { $ref: `${SCHEMAS}Error` };
const REFERENCE = /"#\/components\/schemas\/([^"]+)"/g;

/** Bodies by media type. */
type Content = Record<string, { schema?: Schema; example?: unknown; examples?: object }>;

interface ResponseObject {
  description?: string;
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Content;
}

export interface OperationObject {
  operationId?: string;
  parameters?: { name?: string; in?: string }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, ResponseObject>;
  security?: object[];
  servers?: object[];
  'x-sunset'?: unknown;
}

/** Schemas by name. */
export type Schemas = Record<string, Schema>;
interface Schema {
  $ref?: string;
  type?: string;
  required?: readonly string[];
  additionalProperties?: unknown;
  properties?: Record<string, { enum?: readonly string[] }>;
  [member: string]: unknown;
}

/** Errors of every operation. */
const ALWAYS = {
  400: 'The request is invalid. The message lists the errors.',
  405: 'The resource does not support the method.',
  500: 'The service failed. Report the `X-Request-Id` to the operator.',
  503: 'Temporarily unavailable. Retry after `Retry-After`; a POST only with an `Idempotency-Key`.',
};
/** Errors of operations that require a key. */
const WITH_KEY = {
  401: 'Missing or invalid API key.',
  403: 'The API key was sent without TLS.',
  429: 'Too many requests. Retry after the time in `Retry-After`.',
};

/** What holds for all operations of an application. */
export interface Conventions {
  /** Name of the security scheme of every operation that is not public. */
  scheme: string;
  /** Whether callers have a quota, so that every response has its headers. */
  hasQuota: boolean;
  /** The errors of the service and of extensions, by their codes. */
  declared: ReadonlyMap<string, ErrorDefinition>;
}

/**
 * Adds to an operation what applies to every operation: security, responses, headers, an example of
 * each error.
 * @param schemas of the document
 * @returns the error codes that the operation documents
 */
export function completeOperation(
  object: OperationObject,
  operation: Operation,
  { scheme, hasQuota, declared }: Conventions,
  schemas: Schemas,
): string[] {
  const { responses } = object;
  const { controller, handler } = operation;
  const scopes = isPublic(controller) ? undefined : (requiredScopesOf(handler, controller) ?? []);
  object.security = scopes ? [{ [scheme]: scopes }] : [];
  const isCounted = hasQuota && scopes !== undefined;
  if (isCounted && isConditional(object, operation)) addCondition(object);
  const documented = addErrors(object, operation, scopes, declared);
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(object, status, isCounted, response.headers);
    const ofStatus = documented.filter((error) => error.status === Number(status));
    if (Number(status) >= 400) addExamples(response, ofStatus);
  }
  responses['default'] ??= { $ref: '#/components/responses/OtherError' };
  nameList(object, operation, schemas);
  completeBody(object, schemas);
  return documented.map(({ code }) => code);
}

/** Whether a response of the operation has an `ETag`: a read with a JSON body. */
function isConditional({ responses }: OperationObject, operation: Operation): boolean {
  const { controller, handler, key, method } = operation;
  if (method !== 'GET' || Reflect.hasMetadata(SEPARATE_QUOTA, handler)) return false;
  const { 200: success } = responses;
  const prototype = controller.prototype as object;
  const returned: unknown = Reflect.getMetadata('design:returntype', prototype, key);
  const isOther = (name: string) => Reflect.hasMetadata(name, handler);
  if (returned === StreamableFile || [REDIRECT_METADATA, SSE_METADATA].some(isOther)) return false;
  // What the method returns decides if the operation documents no body.
  if (success?.content !== undefined) return JSON_TYPE in success.content;
  return success !== undefined && returned !== String;
}

function addCondition(object: OperationObject): void {
  const condition = {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a response that the client has; if it is current: 304.',
    schema: { type: 'string' },
  };
  object.parameters = [...(object.parameters ?? []), condition];
  object.responses[304] ??= { description: 'The response that the client has is current.' };
}

/**
 * Adds the errors that the guards and pipes of the service cause, and those of `@ApiErrors()`.
 * @param scopes undefined for a public operation
 */
function addErrors(
  { responses, requestBody }: OperationObject,
  { controller, handler }: Operation,
  scopes: string[] | undefined,
  declared: Conventions['declared'],
): ErrorDefinition[] {
  const list = scopes?.map((scope) => `\`${scope}\``).join(', ');
  const general: Record<string, string> = {
    ...ALWAYS,
    ...(scopes && WITH_KEY),
    ...(list && { 403: `The API key lacks the scope ${list}, or was sent without TLS.` }),
    ...(requestBody && bodyErrors(handler)),
  };
  const excluded = [
    requestBody?.content[JSON_TYPE] === undefined && 'malformed_json',
    Reflect.hasMetadata(SEPARATE_QUOTA, handler) && 'key_banned',
    !list && 'insufficient_scope',
  ];
  const caused = Object.values<ErrorDefinition>(errors).filter(
    ({ code, status }) => status in general && !excluded.includes(code),
  );
  const own = notedErrors([handler, controller], declared);
  describe(responses, own, general);
  return [...caused, ...own];
}

function describe(
  responses: OperationObject['responses'],
  own: readonly ErrorDefinition[],
  general: Record<string, string>,
): void {
  for (const { status, meaning } of own) {
    const response = (responses[status] ??= {});
    response.description = [response.description, meaning].filter(Boolean).join(' ');
  }
  for (const [status, description] of Object.entries(general)) {
    responses[status] ??= { description };
  }
}

/** The errors of `@ApiErrors()`. `checkApplication` has found every code. */
function notedErrors(
  targets: [Handler, Operation['controller']],
  declared: Conventions['declared'],
): ErrorDefinition[] {
  const noted = new Reflector().getAllAndMerge<DocumentedError[]>(API_ERRORS, targets);
  return noted.map((each) => (typeof each === 'string' ? declared.get(each)! : each));
}

/** Errors of an operation that takes a body. */
function bodyErrors(handler: Handler): Record<string, string> {
  const { bytes, types } = bodyRulesOfHandler(handler);
  const [kib, list] = [bytes / 1024, types?.map((type) => `\`${type}\``).join(' or ')];
  return {
    413: `The body exceeds ${Number.isInteger(kib) ? `${kib} KiB` : `${bytes} bytes`}.`,
    415: `The body must be ${list ?? '`application/json` in UTF-8'}, without content encoding.`,
  };
}

/** Adds an example of each code, unless the operation documents another body. */
function addExamples(response: ResponseObject, documented: readonly ErrorDefinition[]): void {
  response.content ??= errorContent({});
  const media = response.content[JSON_TYPE];
  if (media?.schema?.$ref !== ERROR_SCHEMA.$ref || media.example !== undefined) return;
  media.examples ??= Object.fromEntries(
    documented.map(({ code, status, meaning }) => [
      code,
      { summary: meaning, value: { code, message: meaning, status } },
    ]),
  );
}

export function errorContent(examples: { example?: unknown }) {
  return { [JSON_TYPE]: { schema: ERROR_SCHEMA, ...examples } };
}

/** Refers to the name of `@ApiPage()` instead of repeating the array. */
function nameList({ responses }: OperationObject, { handler }: Operation, schemas: Schemas): void {
  const name = Reflect.getMetadata(LIST_NAME, handler) as string | undefined;
  const { 200: page } = responses;
  const media = page?.content?.[JSON_TYPE];
  if (name === undefined || media?.schema === undefined) return;
  schemas[name] = { ...media.schema, description: page!.description! };
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

/** Unknown members are an error, also in nested objects. */
function close(part: object, schemas: Schemas): void {
  for (const [, name] of JSON.stringify(part).matchAll(REFERENCE)) {
    const schema = schemas[name!];
    if (schema?.type !== 'object' || schema.additionalProperties !== undefined) continue;
    schema.additionalProperties = false;
    close(schema, schemas);
  }
}
