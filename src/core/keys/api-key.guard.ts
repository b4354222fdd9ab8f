import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Operations } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import { replyOf, requestOf } from '../http/request.js';
import { Authenticator } from './authenticator.js';

/** The name of the security scheme in the OpenAPI document. */
export const BEARER_SCHEME = 'apiKey';

/** Authenticates every request of the API, except those to a `@Public()` controller. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly operations: Operations,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    request.operation = this.operations.ids.of(context);
    if (isPublic(context.getClass())) return true;
    return this.authenticator.authenticate(request, replyOf(context));
  }
}
