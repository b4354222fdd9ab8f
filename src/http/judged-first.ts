import type { CanActivate, ExecutionContext, INestApplication, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { guardsOfAll, listNoted, NOTED } from './nest-metadata.js';
import { type Operation, operationOfRoute, operationsOf } from './operations.js';
import { haveGuestsFilters } from './ours-first.filter.js';
import type { Judge } from './refusals.js';
import { type ApiReply, type ApiRequest, type Handler, requestOf } from './request-context.js';

/**
 * Has our guards asked before Nest begins with a request, where a guest's code would be in front of them, or answer
 * for them: what is made for each request is made before any guard, and a filter that catches everything is given
 * what guards throw. Nest asks them in vain afterwards. Everywhere else it alone does.
 * @param ours the modules whose guards are ours; before any route is there
 */
export function judgeFirst(
  app: INestApplication,
  transport: FastifyInstance,
  ours: ReadonlySet<Type>,
  application: Pick<Judge, 'sendError'>,
): void {
  const isAnsweredByGuests = haveGuestsFilters(app, ours);
  const isConcerned = ({ controller, handler, isMadePerRequest }: Operation): boolean =>
    isAnsweredByGuests ||
    isMadePerRequest ||
    [controller, handler].some((target) => listNoted(target, NOTED.filters).length > 0);
  const operations = operationsOf(app).filter(isConcerned);
  if (operations.length === 0) return;
  const modules = [...app.get(ModulesContainer).values()];
  const guards = modules.filter(({ metatype }) => ours.has(metatype)).flatMap(guardsOfAll);
  for (const guard of guards) askOnce(guard);
  const operationOf = operationOfRoute(operations);
  transport.addHook('onRoute', (route) => {
    const operation = operationOf(route);
    if (operation === undefined) return;
    const { handler } = route;
    route.handler = async function (request, reply) {
      if (!isWithoutParameter(request)) {
        try {
          await ask(guards, new Asked(operation, request, reply));
        } catch (refusal) {
          application.sendError(refusal, request, reply);
          return reply;
        }
      }
      // What does not match after all is refused elsewhere, which is not waited for.
      const answered: unknown = handler.call(this, request, reply);
      return answered ?? reply;
    };
  });
}

function askOnce(guard: CanActivate): void {
  const canActivate = guard.canActivate.bind(guard);
  guard.canActivate = (context) => requestOf(context).isJudged || canActivate(context);
}

async function ask(guards: readonly CanActivate[], context: ExecutionContext): Promise<void> {
  for (const guard of guards) await guard.canActivate(context);
}

/** The router matches an empty segment for a parameter; Nest does not, and has it refused as a path of its own. */
function isWithoutParameter({ params }: ApiRequest): boolean {
  return Object.entries(params as object).some(([name, value]) => value === '' && name !== '*');
}

/** What guards are given, by Nest elsewhere. */
class Asked implements ExecutionContext {
  private readonly args: readonly unknown[];

  constructor(
    private readonly operation: Operation,
    request: ApiRequest,
    reply: ApiReply,
  ) {
    this.args = [request, reply];
  }

  getClass<T>(): Type<T> {
    return this.operation.controller as Type<T>;
  }

  getHandler(): Handler {
    return this.operation.handler;
  }

  getArgs<T>(): T {
    return [...this.args] as T;
  }

  getArgByIndex<T>(index: number): T {
    return this.args[index] as T;
  }

  getType<Kind extends string>(): Kind {
    return 'http' as Kind;
  }

  switchToHttp(): ReturnType<ExecutionContext['switchToHttp']> {
    return {
      getRequest: <T>() => this.args[0] as T,
      getResponse: <T>() => this.args[1] as T,
      getNext: <T>() => undefined as T,
    };
  }

  switchToRpc(): never {
    throw new Error('This is an HTTP request');
  }

  switchToWs(): never {
    return this.switchToRpc();
  }
}
