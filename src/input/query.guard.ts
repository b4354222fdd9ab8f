import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type Type,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { FallbackController } from '../http/fallback.controller.js';
import { isPublic } from '../http/public.decorator.js';
import { PerOperation, requestOf } from '../http/request-context.js';
import { invalidRequest, quoteForMessage } from './invalid-request.js';
import { hasParameter, RouteParamtypes } from './operation-input.js';

/** Injection token: the modules of the service itself. */
export const CORE_MODULES = Symbol('CORE_MODULES');

/**
 * Rejects every query parameter of a core operation that declares none. Where a DTO declares the query, `InputPipe`
 * validates it; other operations of extensions ignore unknown parameters, as in Nest.
 */
@Injectable()
export class QueryGuard implements CanActivate {
  private readonly takesNone = new PerOperation(
    (controller, handler) =>
      this.isCore(controller) && !hasParameter(controller, handler, RouteParamtypes.QUERY),
  );

  constructor(
    @Inject(CORE_MODULES) private readonly coreModules: ReadonlySet<Type>,
    private readonly modules: ModulesContainer,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const names = Object.keys(requestOf(context).query as object);
    if (names.length === 0 || !this.takesNone.of(context)) return true;
    throw invalidRequest(
      names.map((name) => `${quoteForMessage(name)} is not a known query parameter`),
    );
  }

  private isCore(controller: Type): boolean {
    if (controller === FallbackController || isPublic(controller)) return false;
    return [...this.modules.values()].some(
      ({ metatype, controllers }) => this.coreModules.has(metatype) && controllers.has(controller),
    );
  }
}
