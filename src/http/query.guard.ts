import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import { FallbackController } from './fallback.controller.js';
import { isPublic } from './public.decorator.js';
import { requestOf } from './request-context.js';
import { invalidRequest, shown } from './validation.js';

/** An operation that declares no query has none: the request pipe never sees it, so it is refused here. */
@Injectable()
export class QueryGuard implements CanActivate {
  private readonly exempt = new Map<unknown, boolean>();

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const names = Object.keys(request.query as object);
    if (names.length === 0 || this.takesAnyQuery(context)) return true;
    throw invalidRequest(names.map((name) => `${shown(name)} is not a known query parameter`));
  }

  private takesAnyQuery(context: ExecutionContext): boolean {
    const handler = context.getHandler();
    let exempt = this.exempt.get(handler);
    if (exempt === undefined) {
      const controller = context.getClass();
      exempt =
        controller === FallbackController ||
        isPublic(controller) ||
        declaresQuery(controller, handler.name);
      this.exempt.set(handler, exempt);
    }
    return exempt;
  }
}

function declaresQuery(controller: object, method: string): boolean {
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as
    object | undefined;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
