import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import type { ApiRequest } from './request.js';

/** RFC 9110 section 4.1 asks for at least 8,000. */
const MAX_TARGET_LENGTH = 8_000;

/** @throws 414 `uri_too_long`, or 400 `malformed_request` for a target that cannot be decoded */
export function assertTarget({ originalUrl, url }: ApiRequest): void {
  if (originalUrl.length > MAX_TARGET_LENGTH) {
    throw errors.uri_too_long(`Path and query must not exceed ${MAX_TARGET_LENGTH} characters`);
  }
  // `routableTarget()` has replaced a target that cannot be decoded.
  if (originalUrl !== url) throw malformedError(new URIError());
}

/** One host, also in brackets, and its port. Node joins repeated fields by commas. */
const HOST = /^(?:\[[\w:.%-]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

/**
 * Whether a proxy may read the message in another way: no single valid `Host` (RFC 9112 section
 * 3.2), or a `Transfer-Encoding` other than `chunked`, or of HTTP/1.0 (section 6.1).
 */
export function isAmbiguous({ headers, httpVersion }: IncomingMessage): boolean {
  // Only HTTP/1.1 requires a Host. It may be empty.
  const { host = httpVersion === '1.1' ? ' ' : '', 'transfer-encoding': coding } = headers;
  if (!HOST.test(host)) return true;
  return coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked');
}

/** The error for a message that could not be parsed, or that did not arrive in time. */
export function malformedError(cause: NodeJS.ErrnoException): ApiError {
  switch (cause.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errors.request_timeout('The request did not arrive in time', { cause });
    case 'HPE_HEADER_OVERFLOW':
      return errors.header_fields_too_large('The header fields are too large', { cause });
    default:
      return errors.malformed_request('The request is not valid HTTP', { cause });
  }
}

/** Rejects a message for which Node has no request, and closes the connection. */
export function rejectMalformed(cause: NodeJS.ErrnoException, socket: Socket): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = malformedError(cause);
  const status = error.getStatus();
  const body = JSON.stringify(error.getResponse());
  socket.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      'Cache-Control: no-store\r\n' +
      `X-Request-Id: ${randomUUID()}\r\n` +
      'X-Content-Type-Options: nosniff\r\n' +
      `Connection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}
