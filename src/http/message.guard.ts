import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { type ApiRequest, isRepeated, requestOf } from './request-context.js';
import { isOtherForm } from './target.js';

/** RFC 9110 section 4.1 asks for at least 8,000. */
const MAX_TARGET_LENGTH = 8_000;
const MAX_HEADER_FIELDS = 1_000;
/** `uri-host [ ":" port ]` (RFC 9110 section 7.2), in which the host may be empty. */
const HOST = /^(?:[\w\-.~%!$&'()*+,;=]*|\[[\da-fv:.]+\])(?::\d*)?$/i;

/**
 * Judges the HTTP message itself. Node and Fastify would do so before anyone asks who the caller is, and
 * in words of their own; here it comes after the quota.
 */
@Injectable()
export class MessageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { raw } = request;
    const { headers } = raw;
    if (request.originalUrl.length > MAX_TARGET_LENGTH) {
      throw errors.uri_too_long(`The target must not exceed ${MAX_TARGET_LENGTH} characters`);
    }
    if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
      throw errors.header_fields_too_large(
        `A request must not have more than ${MAX_HEADER_FIELDS} header fields`,
      );
    }
    refuseAmbiguity(request);
    // Node reads 0.9 and 2.0 as well, as if they were 1.0: without asking for a Host.
    if (raw.httpVersionMajor !== 1) throw malformed('Only HTTP/1.0 and HTTP/1.1 are served');
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      throw malformed('The Host header is missing');
    }
    if (headers.host !== undefined && !HOST.test(headers.host)) {
      throw malformed('The Host header names no host');
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
      throw errors.expectation_failed('Only 100-continue can be expected');
    }
    return true;
  }
}

/** What two readers of the message could understand in two ways. */
function refuseAmbiguity(request: ApiRequest): void {
  const { raw } = request;
  refuseTarget(request);
  const coding = raw.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    throw malformed('Transfer-Encoding must be chunked');
  }
  if (isRepeated('host', raw.rawHeaders)) throw malformed('The Host header is given twice');
  if (isRepeated('content-type', raw.rawHeaders)) {
    throw malformed('The Content-Type header is given twice');
  }
}

/** @throws {ApiError} 400 for a target that had to be made decodable, or that the router alone can read */
export function refuseTarget({ originalUrl, url }: ApiRequest): void {
  if (originalUrl !== url) throw malformed('The target cannot be decoded');
  if (!url.startsWith('/') && !isOtherForm(url))
    throw malformed('The target is neither a path nor an http address');
}

function malformed(message: string): ApiError {
  return errors.malformed_request(message);
}
