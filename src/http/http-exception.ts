import type { HttpException } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import { errors, generalCode, OUTAGE_RETRY_AFTER } from '../errors/errors.js';

/** How to authenticate (RFC 6750 section 3). */
export const CHALLENGE = 'Bearer realm="pet-store"';

/** Headers that a status requires, unless the handler has set them. `Allow` comes from the routes. */
const HEADERS: Record<number, Record<string, string>> = {
  401: { 'WWW-Authenticate': CHALLENGE },
  429: { 'Retry-After': '1' },
  503: { 'Retry-After': OUTAGE_RETRY_AFTER },
};

/** Converts an exception of Nest. The message of a 500 appears only in the log. */
export function toApiError(exception: HttpException): ApiError {
  const status = exception.getStatus();
  if (status === 500 || !(status >= 200 && status <= 599)) {
    return errors.internal_error('The service failed to answer this request', { cause: exception });
  }
  const response = exception.getResponse();
  const given: { code?: unknown; message?: unknown } =
    typeof response === 'string' ? { message: response } : response;
  const code = [given.code, exception.errorCode].find(isText) ?? generalCode(status);
  return new ApiError({ code, status }, messageOf(given.message, exception), {
    headers: HEADERS[status] ?? {},
    cause: exception,
  });
}

/** An exception of a pipe has a list of messages. */
function messageOf(message: unknown, exception: HttpException): string {
  if (Array.isArray(message)) return message.map(String).join('; ');
  return isText(message) ? message : exception.message;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
