import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { isPublic, OperationIds } from '../http/operations.js';
import { replyOf, requestOf } from '../http/request-context.js';
import { Authenticator } from './authenticator.js';

/** Who are you: nothing but what is marked `@Public()` is open to a caller without a valid key. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly operations: OperationIds,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = requestOf(context);
    request.operation = this.operations.of(context);
    if (isPublic(context.getClass())) return true;
    const identified = this.authenticator.identify(request, replyOf(context));
    return identified === undefined ? true : identified.then(() => true);
  }
}
