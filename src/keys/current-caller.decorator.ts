import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { requestOf } from '../http/request-context.js';
import type { Caller, Origin } from './caller.js';

/** The caller of the request, as a parameter of a handler; undefined in a `@Public()` controller. */
export const CurrentCaller = createParamDecorator(currentCaller);

/** The client and the id of the request, as a parameter of a handler. */
export const RequestOrigin = createParamDecorator(requestOrigin);

function currentCaller(_data: unknown, context: ExecutionContext): Caller | undefined {
  return requestOf(context).caller;
}

function requestOrigin(_data: unknown, context: ExecutionContext): Origin {
  const { caller, id } = requestOf(context);
  return { clientId: caller!.clientId, requestId: id };
}
