import { STATUS_CODES } from 'node:http';
import { type ApiError, defineErrors } from './api-error.js';

/** The error codes of the core. The document lists them with those of extensions. */
export const errors = defineErrors({
  invalid_request: { status: 400, meaning: 'A parameter, header or body member is invalid.' },
  malformed_json: { status: 400, meaning: 'The body is not valid JSON.' },
  malformed_request: { status: 400, meaning: 'The request is not valid HTTP.' },
  missing_api_key: { status: 401, meaning: 'The request has no API key.' },
  invalid_api_key: {
    status: 401,
    meaning: 'The API key is unknown, revoked, expired or disabled.',
  },
  insufficient_scope: { status: 403, meaning: 'The API key lacks the scope of the operation.' },
  https_required: { status: 403, meaning: 'The API key was sent without TLS. Replace it.' },
  address_not_allowed: {
    status: 403,
    meaning: 'The API key may not be used from the address of the client.',
  },
  not_found: { status: 404, meaning: 'There is no such resource.' },
  method_not_allowed: { status: 405, meaning: 'The resource does not support the method.' },
  request_timeout: { status: 408, meaning: 'The request did not arrive in time.' },
  idempotency_key_in_use: {
    status: 409,
    meaning: 'The first request with this Idempotency-Key is still in progress.',
  },
  key_already_rotated: {
    status: 409,
    meaning: 'The key was rotated before, and its successor has been used.',
  },
  key_revoked: {
    status: 409,
    meaning: 'The key is revoked, expired, disabled or rotated, and cannot be changed like this.',
  },
  operation_removed: { status: 410, meaning: 'The operation has been removed.' },
  payload_too_large: { status: 413, meaning: 'The body is larger than the operation allows.' },
  uri_too_long: { status: 414, meaning: 'Path and query are too long.' },
  unsupported_media_type: {
    status: 415,
    meaning: 'The operation does not accept the media type or encoding of the body.',
  },
  expectation_failed: { status: 417, meaning: 'Unsupported Expect header.' },
  idempotency_key_reused: {
    status: 422,
    meaning: 'The Idempotency-Key was used for another request.',
  },
  rate_limit_exceeded: {
    status: 429,
    meaning: 'Too many requests; retry after the time in Retry-After.',
  },
  key_banned: {
    status: 429,
    meaning: 'The API key is temporarily banned because of too many 429 responses.',
  },
  header_fields_too_large: { status: 431, meaning: 'The header fields are too many or too large.' },
  internal_error: {
    status: 500,
    meaning: 'The service failed; report the X-Request-Id to the operator.',
  },
  service_unavailable: {
    status: 503,
    meaning: 'The service is temporarily unavailable; retry after the time in Retry-After.',
  },
});

export type ErrorCode = keyof typeof errors;

/** General codes that are not Node's name of the status. */
const GENERAL: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  413: 'payload_too_large',
  422: 'unprocessable_content',
  429: 'rate_limit_exceeded',
  431: 'header_fields_too_large',
  500: 'internal_error',
};

/** The code of a status if no more specific one applies: usually its name in snake case. */
export function generalCode(status: number): string {
  const name = STATUS_CODES[status] ?? 'Error';
  return GENERAL[status] ?? name.replace(/'/g, '').toLowerCase().replace(/\W+/g, '_');
}

export function notFound(): ApiError {
  return errors.not_found('There is no such resource');
}

export function serviceUnavailable(cause: unknown): ApiError {
  return errors.service_unavailable('The service is temporarily unavailable', { cause });
}
