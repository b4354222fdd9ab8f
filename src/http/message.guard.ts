import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ApiError } from './api-error.js';
import { requestOf } from './request-context.js';

/** RFC 9110 section 4.1 asks for at least 8,000. */
const MAX_TARGET_LENGTH = 8_000;
const MAX_HEADER_FIELDS = 1_000;

/**
 * Judges the HTTP message itself. Node and Fastify would do so before anyone asks who the caller is, and
 * in words of their own; here it comes after the quota.
 */
@Injectable()
export class MessageGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { raw } = requestOf(context);
    const { headers } = raw;
    if (raw.url!.length > MAX_TARGET_LENGTH) {
      throw new ApiError(
        'uri_too_long',
        `The target must not exceed ${MAX_TARGET_LENGTH} characters`,
      );
    }
    if (raw.rawHeaders.length > 2 * MAX_HEADER_FIELDS) {
      throw new ApiError(
        'header_fields_too_large',
        `A request must not have more than ${MAX_HEADER_FIELDS} header fields`,
      );
    }
    if (headers.host === undefined && raw.httpVersion === '1.1') {
      throw new ApiError('malformed_request', 'The Host header is missing');
    }
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue') {
      throw new ApiError('expectation_failed', 'Only 100-continue can be expected');
    }
    return true;
  }
}
