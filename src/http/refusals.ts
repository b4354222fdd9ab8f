import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ApiError } from '../errors/api-error.js';
import { errors, notFound } from '../errors/errors.js';
import type { ApiRequest } from './request-context.js';
import type { RouteTable } from './route-table.js';
import { pathOf } from './target.js';

/** The error for a request without a route: 405 if the path has other methods, otherwise 404. */
export function unserved({ method, url }: ApiRequest, routes: RouteTable): ApiError {
  const allowed = routes.methodsOf(pathOf(url));
  if (allowed.length === 0) return notFound();
  return errors.method_not_allowed(`The resource has no method ${method}`, {
    headers: { Allow: allowed.join(', ') },
  });
}

/** Answers a message that Node could not parse, or that did not arrive in time, and closes the connection. */
export function refuseMalformed(cause: NodeJS.ErrnoException, socket: Socket): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = malformedError(cause);
  const body = error.toBody();
  socket.write(
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}\r\n` +
      'Content-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      'Cache-Control: no-store\r\n' +
      `X-Request-Id: ${randomUUID()}\r\n` +
      'X-Content-Type-Options: nosniff\r\n' +
      `Connection: close\r\n\r\n${body}`,
  );
  socket.destroySoon();
}

/** The error for a message that Node could not parse, or that did not arrive in time. */
export function malformedError(cause: NodeJS.ErrnoException): ApiError {
  switch (cause.code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return errors.request_timeout('The request did not arrive in time', { cause });
    case 'HPE_HEADER_OVERFLOW':
      return errors.header_fields_too_large('The request line and header fields are too large', {
        cause,
      });
    default:
      return errors.malformed_request('The request is not well-formed HTTP', { cause });
  }
}
