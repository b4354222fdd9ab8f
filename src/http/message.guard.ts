import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { errors } from '../errors/errors.js';
import { requestOf } from './request-context.js';

/** RFC 9110 section 4.1 asks for at least 8,000. */
const MAX_TARGET_LENGTH = 8_000;

/** Rejects a malformed HTTP message, after authentication and quota. */
@Injectable()
export class MessageGuard implements CanActivate {
  /** @throws 414 `uri_too_long`, and what the router or the reader of the body has found */
  canActivate(context: ExecutionContext): boolean {
    const { originalUrl, messageError } = requestOf(context);
    if (originalUrl.length > MAX_TARGET_LENGTH) {
      throw errors.uri_too_long(`The target must not exceed ${MAX_TARGET_LENGTH} characters`);
    }
    if (messageError !== undefined) throw messageError;
    return true;
  }
}
