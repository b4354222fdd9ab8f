import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  HttpException,
  type INestApplication,
  type NestInterceptor,
  type Type,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { catchError } from 'rxjs';
import { ApiError } from '../errors/api-error.js';
import { getRequestContext } from '../telemetry/request-context.js';
import { ErrorFilter } from './error.filter.js';
import { filtersOfAll, listNoted, NOTED } from './nest-metadata.js';
import { operationsOf } from './operations.js';
import { type ApiRequest, READS_NO_BODY } from './request-context.js';

/**
 * What an operation of ours refuses, or fails with. A guest's filter that catches everything would answer without
 * the headers and the body that such an answer has to have. What guests throw on its way is theirs to answer.
 */
abstract class OwnFailure {
  static [Symbol.hasInstance](thrown: unknown): boolean {
    // Of a guest's operation alone it is known which request is under way: one that inherits a method of ours.
    if (getRequestContext() !== undefined) return false;
    return thrown instanceof ApiError || failures.has(thrown as object);
  }
}

/** Before all filters of guests: the last of a method's is asked first. */
@Catch(OwnFailure)
class OursFirstFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const { server } = host.switchToHttp().getRequest<ApiRequest>();
    filters.get(server)?.catch(thrown, host);
  }
}

/** Of each application, by its transport: what is noted of a method is so for all of them. */
const filters = new WeakMap<object, ErrorFilter>();
const OURS_FIRST = new OursFirstFilter();

/** What came out of operations of ours. We throw no exceptions of Nest's own: those are of a guest's pipe. */
const failures = new WeakSet<object>();
/** The innermost of an operation's, behind all of guests. */
const NOTES_FAILURES: NestInterceptor = {
  intercept: (_context, next) =>
    next.handle().pipe(
      catchError((thrown: unknown) => {
        if (isFailure(thrown)) failures.add(thrown);
        throw thrown;
      }),
    ),
};
Reflect.defineMetadata(READS_NO_BODY, true, NOTES_FAILURES);

/**
 * Has the failures of our operations answered by us, whatever filters guests have.
 * @param ours the modules whose operations are ours; before any route is there
 */
export function answerOurFailures(
  app: INestApplication,
  transport: object,
  ours: ReadonlySet<Type>,
): void {
  if (!haveGuestsFilters(app, ours)) return;
  filters.set(transport, app.get(ErrorFilter));
  for (const { handler, module } of operationsOf(app)) {
    if (!ours.has(module) || listNoted(handler, NOTED.filters).includes(OURS_FIRST)) continue;
    UseFilters(OURS_FIRST)({}, '', { value: handler });
    UseInterceptors(NOTES_FAILURES)({}, '', { value: handler });
  }
}

function isFailure(thrown: unknown): thrown is object {
  return typeof thrown === 'object' && thrown !== null && !(thrown instanceof HttpException);
}

/** Whether guests answer the failures of all operations. */
export function haveGuestsFilters(app: INestApplication, ours: ReadonlySet<Type>): boolean {
  return [...app.get(ModulesContainer).values()].some(
    (module) => !ours.has(module.metatype) && filtersOfAll(module).length > 0,
  );
}
