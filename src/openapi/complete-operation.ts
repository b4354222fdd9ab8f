import { HTTP_CODE_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import type { ErrorDefinition } from '../errors/api-error.js';
import { API_ERRORS } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import type { Operation } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import { notJson } from '../input/invalid-request.js';
import { BEARER_SCHEME } from '../keys/api-key.guard.js';
import { REQUIRED_SCOPES } from '../keys/scope.guard.js';
import { SEPARATE_QUOTA } from '../rate-limits/separate-quota.decorator.js';
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
/** The messages of the examples, where they are not the meaning of the code. */
const MESSAGES: Readonly<Record<string, string>> = {
  invalid_request: '"page" is not a known query parameter',
  malformed_json: 'The body is not JSON: unexpected end',
  missing_api_key: 'Send an API key: "Authorization: Bearer <API_KEY>"',
  invalid_api_key: 'The API key is not valid',
  insufficient_scope: 'The API key lacks the scope SCOPE',
  pet_not_found: 'There is no pet 4711',
  method_not_allowed: 'The resource does not support the method DELETE',
  operation_removed:
    'The operation was removed; use GET /pets with a status filter if the status is known',
  payload_too_large: 'The body must not exceed 65536 bytes',
  unsupported_media_type: notJson().message,
  rate_limit_exceeded: 'The rate limit is exceeded. Retry after 17 seconds.',
  key_banned:
    'This API key is temporarily banned because it kept sending requests after being rate limited. Retry after 300 seconds.',
  internal_error: 'The service failed to answer this request',
  service_unavailable: 'The service is temporarily unavailable',
};

export interface OperationObject {
  operationId?: string;
  parameters?: { name?: string }[];
  requestBody?: { content: Record<string, MediaObject> };
  responses: Record<string, ResponseObject>;
  security?: Record<string, readonly string[]>[];
  servers?: object[];
  'x-sunset'?: unknown;
}

/** Responses of every operation. */
const ALWAYS: Record<string, string> = {
  400: 'The request is invalid. The message lists the errors.',
  405: 'The resource does not support the method.',
  500: 'The service failed. Report the `X-Request-Id` to the operator.',
  503: 'Temporarily unavailable. Retry after `Retry-After`; a POST only with an `Idempotency-Key`.',
};
/** Further responses of operations that require a key. */
const WITH_KEY: Record<string, string> = {
  401: 'Missing or invalid API key.',
  429: 'Too many requests. Retry after the time in `Retry-After`.',
};
/** Further responses of operations that take a body. */
const WITH_BODY: Record<string, string> = {
  413: 'The body exceeds 64 KiB.',
  415: 'The body must be `application/json` in UTF-8, without content encoding.',
};

/**
 * Adds to an operation what applies to every operation: security, responses, headers, an example of
 * each error.
 * @returns the error codes that the operation documents
 */
export function completeOperation(
  operation: OperationObject,
  { controller, handler, method }: Operation,
): string[] {
  const { responses, requestBody } = operation;
  const isOpen = isPublic(controller);
  const targets = [handler, controller];
  const reflector = new Reflector();
  const scopes = reflector.getAllAndOverride<string[]>(REQUIRED_SCOPES, targets) ?? [];
  operation.security = isOpen ? [] : [{ [BEARER_SCHEME]: scopes }];

  const list = scopes.map((scope) => `\`${scope}\``).join(', ');
  const general = {
    ...ALWAYS,
    ...(!isOpen && WITH_KEY),
    ...(!isOpen && list && { 403: `The API key lacks the scope ${list}.` }),
    ...(requestBody && WITH_BODY),
  };
  if (Object.keys(responses).every((status) => Number(status) >= 400)) {
    // The generator adds no successful response to an operation that documents only errors.
    const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
    responses[status ?? (method === 'POST' ? 201 : 200)] = { description: '' };
  }
  for (const [status, description] of Object.entries(general)) {
    responses[status] ??= { description };
  }
  const hasSeparateQuota = Reflect.hasMetadata(SEPARATE_QUOTA, handler);
  const ofStatus = Object.values<ErrorDefinition>(errors).filter(
    ({ code, status }) =>
      status in general &&
      (code !== 'malformed_json' || requestBody !== undefined) &&
      (code !== 'key_banned' || !hasSeparateQuota),
  );
  const own = reflector.getAllAndMerge<ErrorDefinition[]>(API_ERRORS, targets);
  const documented = [...ofStatus, ...own];

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

/** @param scope of the operation, which the message of a 403 names */
function examplesOf(documented: readonly ErrorDefinition[], ofStatus: number, scope = '') {
  const examples = documented
    .filter(({ status }) => status === ofStatus)
    .map(({ code, status, meaning }) => {
      const message = (MESSAGES[code] ?? meaning.replace(/\.$/, '')).replace('SCOPE', scope);
      return [code, { summary: meaning, value: { code, message, status } }] as const;
    });
  return Object.fromEntries(examples);
}
