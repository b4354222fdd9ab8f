import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { isPublic } from '../http/public.decorator.js';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { Authenticator } from './authenticator.js';

/** Who are you: nothing but what is marked `@Public()` is open to a caller without a valid key. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    request.operation = context.getHandler().name;
    if (isPublic(context.getClass())) return true;
    const identified = this.authenticator.identify(request, http.getResponse<ApiReply>());
    return identified === undefined ? true : identified.then(() => true);
  }
}
