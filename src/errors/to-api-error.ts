import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { FastifyError } from 'fastify';
import { ApiError } from './api-error.js';
import { errors, generalCode } from './errors.js';

/** How to authenticate (RFC 6750 section 3). */
export const CHALLENGE = 'Bearer realm="pet-store"';

const FAILED = 'The service failed to answer this request';
/** The header that a status requires. `Allow` comes from the routes. */
export const REQUIRED_HEADERS: Readonly<Record<number, readonly [name: string, value: string]>> = {
  401: ['WWW-Authenticate', CHALLENGE],
  429: ['Retry-After', '1'],
  503: ['Retry-After', '2'], // Seconds. The service notices the end of an outage at once.
};

/**
 * Converts an exception of Nest or Fastify. Other errors, and the message of a 500, appear only in
 * the log.
 */
export function toApiError(thrown: unknown): ApiError {
  const exception = fromFastify(thrown) ?? thrown;
  const status = exception instanceof HttpException ? Number(exception.getStatus()) : 500;
  if (!(exception instanceof HttpException) || !/^[2-5]\d\d$/.test(`${status}`)) {
    return errors.internal_error(FAILED, { cause: thrown });
  }
  const response = exception.getResponse();
  const given: { code?: unknown; message?: unknown } =
    typeof response === 'string' ? { message: response } : response;
  const code = [given.code, exception.errorCode].find(isText) ?? generalCode(status);
  // An exception of a pipe has a list of messages.
  const message = Array.isArray(given.message) ? given.message.join('; ') : given.message;
  const shown = status === 500 ? FAILED : isText(message) ? message : exception.message;
  const headers = thrown instanceof ApiError ? (thrown.headers ?? {}) : {};
  return new ApiError({ code, status }, shown, { headers, cause: thrown });
}

/**
 * An error of Fastify, which Nest may have wrapped, without its message: it may reveal too much.
 */
function fromFastify(thrown: unknown): HttpException | undefined {
  const error = (thrown instanceof HttpException ? thrown.cause : thrown) as FastifyError | null;
  if (error?.name !== 'FastifyError' || error.statusCode === undefined) return undefined;
  return new HttpException(STATUS_CODES[error.statusCode] ?? '', error.statusCode);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
