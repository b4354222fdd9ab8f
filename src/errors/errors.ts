import { STATUS_CODES } from 'node:http';
import type { ApiError, ErrorDefinition } from './api-error.js';
import { defineErrors } from './define-errors.js';

/** Every error code of the API, its HTTP status, and when it is answered. The document lists them. */
export const errors = defineErrors({
  invalid_request: {
    status: 400,
    meaning: 'A parameter, header or member breaks its constraints.',
    example: '"page" is not a known query parameter',
  },
  malformed_json: {
    status: 400,
    meaning: 'The body is not JSON.',
    example: 'The body is not JSON: it is empty',
  },
  malformed_request: {
    status: 400,
    meaning: 'The message is not well-formed HTTP.',
    example: 'The request is not well-formed HTTP',
  },
  missing_api_key: {
    status: 401,
    meaning: 'No API key was sent.',
    example: 'Send an API key: "Authorization: Bearer <API_KEY>"',
  },
  invalid_api_key: {
    status: 401,
    meaning: 'The API key is unknown, revoked or expired.',
    example: 'The API key is not valid',
  },
  insufficient_scope: {
    status: 403,
    meaning: 'The API key lacks the scope of the operation.',
    example: 'The API key lacks the scope pets:write',
  },
  pet_not_found: {
    status: 404,
    meaning: 'There is no such animal.',
    example: 'There is no such animal',
  },
  not_found: {
    status: 404,
    meaning: 'There is no such resource.',
    example: 'There is no such resource',
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The resource has no such method.',
    example: 'The resource has no method DELETE',
  },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  idempotency_key_in_use: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still under way.',
    example: 'The first request with this Idempotency-Key is still under way',
  },
  operation_removed: {
    status: 410,
    meaning: 'The operation is past its removal date.',
    example: 'The operation was removed; use GET /pets with a status filter',
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than 64 KiB.',
    example: 'The body must not exceed 65536 bytes',
  },
  uri_too_long: { status: 414, meaning: 'The request target is too long.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'The body is not declared as UTF-8 JSON.',
    example: 'The body must be sent as application/json',
  },
  expectation_failed: { status: 417, meaning: 'The Expect header asks for the unknown.' },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key was used with another body.',
    example: 'The Idempotency-Key was used with another body',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'A quota is used up until Retry-After.',
    example: 'The rate limit is exceeded; retry after 17 s',
  },
  key_banned: {
    status: 429,
    meaning: 'The client went on after too many refusals.',
    example: 'Banned for going on after too many refusals; retry after 300 s',
  },
  header_fields_too_large: { status: 431, meaning: 'The header fields are too many or too large.' },
  internal_error: {
    status: 500,
    meaning: 'The service failed; the log names the request id.',
    example: 'The service failed to answer this request',
  },
  service_unavailable: {
    status: 503,
    meaning: 'The service cannot answer now; retry later.',
    example: 'The service is temporarily unavailable',
  },
});

export type ErrorCode = keyof typeof errors;

/** Of the codes of a status, the one that says no more than the status itself. */
const GENERAL = new Map<number, ErrorDefinition>(
  [
    errors.invalid_request,
    errors.not_found,
    errors.method_not_allowed,
    errors.request_timeout,
    errors.payload_too_large,
    errors.uri_too_long,
    errors.unsupported_media_type,
    errors.expectation_failed,
    errors.rate_limit_exceeded,
    errors.header_fields_too_large,
    errors.internal_error,
    errors.service_unavailable,
  ].map((error) => [error.status, error]),
);

/** Where RFC 9110 has another name for a status than Node. */
const NAMES: Record<number, string> = { 422: 'unprocessable_content' };

/** The code for a status of which nothing more is known: ours where there is one, else its name. */
export function generalCode(status: number): string {
  return GENERAL.get(status)?.code ?? NAMES[status] ?? snakeCase(STATUS_CODES[status] ?? 'Error');
}

function snakeCase(name: string): string {
  return name.replace(/'/g, '').toLowerCase().replace(/\W+/g, '_');
}

export function notFound(): ApiError {
  return errors.not_found('There is no such resource');
}

/** Retry-After is a guess at how long an outage lasts: short, since recovery is noticed at once. */
export const OUTAGE_RETRY_AFTER = '2';

export function serviceUnavailable(cause: unknown): ApiError {
  return errors.service_unavailable('The service is temporarily unavailable', {
    headers: { 'Retry-After': OUTAGE_RETRY_AFTER },
    cause,
  });
}
