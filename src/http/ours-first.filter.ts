import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  type INestApplication,
  UseFilters,
} from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import { currentRequest } from '../telemetry/current-request.js';
import { ErrorFilter } from './error.filter.js';
import { listNoted, NOTED } from './nest-metadata.js';
import { operationsOf } from './operations.js';
import type { ApiRequest } from './request-context.js';

/**
 * What the service itself refuses: all before a guest's code is asked, and all of its own operations. A guest's
 * filter that catches everything would answer without the headers and the body that a refusal has to have.
 */
abstract class OwnRefusal {
  static [Symbol.hasInstance](thrown: unknown): boolean {
    if (!(thrown instanceof ApiError)) return false;
    // Only of a guest's operation it is known which request is under way.
    const request = currentRequest() as Partial<ApiRequest> | undefined;
    return request?.isJudged !== true;
  }
}

/** Before all filters of guests: the last of a method's is asked first. */
@Catch(OwnRefusal)
class OursFirstFilter implements ExceptionFilter {
  catch(thrown: unknown, host: ArgumentsHost): void {
    const { server } = host.switchToHttp().getRequest<ApiRequest>();
    filters.get(server)?.catch(thrown, host);
  }
}

/** Of each application, by its transport: what is noted of a method is so for all of them. */
const filters = new WeakMap<object, ErrorFilter>();
const OURS_FIRST = new OursFirstFilter();

/** Before any route is there. */
export function answerOurRefusals(app: INestApplication, transport: object): void {
  filters.set(transport, app.get(ErrorFilter));
  for (const { handler } of operationsOf(app)) {
    if (!listNoted(handler, NOTED.filters).includes(OURS_FIRST))
      UseFilters(OURS_FIRST)({}, '', { value: handler });
  }
}
