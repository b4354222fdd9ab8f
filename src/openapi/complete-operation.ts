import type { ErrorDefinition } from '../errors/api-error.js';
import { ERROR_EXTENSION } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { SCOPES_EXTENSION } from '../keys/scope.guard.js';
import { SEPARATE_QUOTA_EXTENSION } from '../rate-limits/separate-quota.decorator.js';
import { headersOf } from './headers.js';

const JSON_TYPE = 'application/json';
export const ERROR_SCHEMA = { $ref: '#/components/schemas/Error' };

interface MediaObject {
  schema?: { $ref?: string };
  example?: unknown;
  examples?: object;
}
interface ResponseObject {
  description?: string;
  $ref?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, MediaObject>;
}
/** An operation of the document. The decorators of the service pass facts to this file in members with `x-`. */
export interface OperationObject {
  operationId?: string;
  parameters?: { name?: string }[];
  requestBody?: { content: Record<string, MediaObject> };
  responses: Record<string, ResponseObject>;
  security?: Record<string, readonly string[]>[];
  servers?: object[];
  [extension: `x-${string}`]: unknown;
}

/** Responses of every operation. */
const ALWAYS: Record<string, string> = {
  400: 'The request is invalid. The message names each fault.',
  405: 'The resource does not support the method.',
  500: 'The server failed. Its log contains the `X-Request-Id`.',
  503: 'The service is temporarily unavailable. Retry after the time in `Retry-After`.',
};
/** Further responses of operations that require a key. */
const WITH_KEY: Record<string, string> = {
  401: 'Missing or invalid API key.',
  429: 'Too many requests. Retry after the time in `Retry-After`.',
};
/** Further responses of operations that take a body. */
const WITH_BODY: Record<string, string> = {
  413: 'The body exceeds 64 KiB.',
  415: 'The media type of the body is not `application/json` in UTF-8.',
};

/**
 * Adds to an operation what applies to every operation: security, responses, headers, an example of each error.
 * @param isOpen whether the operation is outside `/v1` and requires no key
 * @returns the error codes that the operation documents
 */
export function completeOperation(operation: OperationObject, isOpen: boolean): string[] {
  const { responses, requestBody } = operation;
  const scopes = (take(operation, SCOPES_EXTENSION) ?? []) as readonly string[];
  const hasSeparateQuota = take(operation, SEPARATE_QUOTA_EXTENSION) === true;
  operation.security = isOpen ? [] : [{ [BEARER_SCHEME]: scopes }];

  const list = scopes.map((scope) => `\`${scope}\``).join(', ');
  const general = {
    ...ALWAYS,
    ...(!isOpen && WITH_KEY),
    ...(!isOpen && list && { 403: `The API key lacks the scope ${list}.` }),
    ...(requestBody && WITH_BODY),
  };
  for (const [status, description] of Object.entries(general))
    responses[status] ??= { description };
  const ofStatus = Object.values<ErrorDefinition>(errors).filter(
    ({ code, status }) =>
      status in general &&
      (code !== 'malformed_json' || requestBody !== undefined) &&
      (code !== 'key_banned' || !hasSeparateQuota),
  );
  const documented = [...ofStatus, ...takeErrors(operation)];

  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(operation, status, isOpen, response.headers);
    if (!(Number(status) >= 400)) continue;
    const media = (response.content ??= { [JSON_TYPE]: { schema: ERROR_SCHEMA } })[JSON_TYPE];
    if (media?.schema?.$ref !== ERROR_SCHEMA.$ref || media.example !== undefined) continue;
    media.examples ??= examplesOf(documented, Number(status), scopes[0]);
  }
  responses['default'] ??= { $ref: '#/components/responses/OtherError' };
  return documented.map(({ code }) => code);
}

function take(operation: OperationObject, name: `x-${string}`): unknown {
  const value = operation[name];
  delete operation[name];
  return value;
}

/** The errors of `@ApiErrors`. */
function takeErrors(operation: OperationObject): ErrorDefinition[] {
  const names = Object.keys(operation).filter((name) => name.startsWith(ERROR_EXTENSION));
  return names.map((name) => take(operation, name as `x-${string}`) as ErrorDefinition);
}

function examplesOf(documented: readonly ErrorDefinition[], ofStatus: number, scope?: string) {
  const examples = documented.flatMap(
    ({ code, status, meaning, example = meaning.replace(/\.$/, '') }) => {
      if (status !== ofStatus) return [];
      const message = scope ? example.replace('pets:write', scope) : example;
      return [[code, { summary: meaning, value: { code, message, status } }]];
    },
  );
  return Object.fromEntries(examples) as object;
}
