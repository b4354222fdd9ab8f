import { STATUS_CODES } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { FastifyError } from 'fastify';
import { ApiError } from './api-error.js';
import { errors, generalCode } from './errors.js';

/** How to authenticate (RFC 6750 section 3). */
export const CHALLENGE = 'Bearer realm="pet-store"';

const FAILED = 'The server could not process this request';

/** The header that a status requires. `Allow` comes from the routes. */
export const REQUIRED_HEADERS: Readonly<Record<number, readonly [name: string, value: string]>> = {
  401: ['WWW-Authenticate', CHALLENGE],
  429: ['Retry-After', '1'],
  503: ['Retry-After', '2'], // Seconds. An outage is often short.
};

/**
 * Converts an exception of Nest or Fastify. Other errors, and the message of a 500, appear only in
 * the log.
 */
export function toApiError(thrown: unknown): ApiError {
  const exception = fromFastify(thrown) ?? thrown;
  if (!(exception instanceof HttpException)) return failure(thrown);
  const status = Number(exception.getStatus());
  if (!/^[2-5]\d\d$/.test(`${status}`)) return failure(thrown);
  const response = exception.getResponse();
  const given: { code?: unknown; message?: unknown } =
    typeof response === 'string' ? { message: response } : response;
  const code = textOf(given.code) ?? textOf(exception.errorCode) ?? generalCode(status);
  const message = status === 500 ? FAILED : (textOf(given.message) ?? exception.message);
  const headers = thrown instanceof ApiError ? (thrown.headers ?? {}) : {};
  return new ApiError({ code, status }, message, { headers, cause: thrown });
}

function failure(cause: unknown): ApiError {
  return errors.internal_error(FAILED, { cause });
}

/**
 * An error of Fastify, which Nest may have wrapped, without its message: it may reveal too much.
 */
function fromFastify(thrown: unknown): HttpException | undefined {
  const error = (thrown instanceof HttpException ? thrown.cause : thrown) as FastifyError | null;
  if (error?.name !== 'FastifyError' || error.statusCode === undefined) return undefined;
  return new HttpException(STATUS_CODES[error.statusCode] ?? '', error.statusCode);
}

/** @returns the text, or the texts of a pipe's list; undefined if there is none */
function textOf(value: unknown): string | undefined {
  const text: unknown = Array.isArray(value) ? value.join('; ') : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
