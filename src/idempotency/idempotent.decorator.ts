import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  StreamableFile,
} from '@nestjs/common';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { stringifyJson } from '../http/answers.js';
import { atTheOutermost, LocationInterceptor, nameOfOperation } from '../http/creates.decorator.js';
import { READS_NO_BODY, replyOf } from '../http/request-context.js';
import { parseOwnJson } from '../input/json.js';
import {
  ApiIdempotent,
  IdempotencyService,
  type IdempotentRequest,
  idempotentRequestOf,
} from './idempotency.service.js';

const IDEMPOTENT = 'petstore:idempotent';

/**
 * Has the operation take an `Idempotency-Key`. With one, everything that the handler does through TypeORM is one
 * transaction, and the answer is remembered in it: both are there, or neither. A repeat gets the same answer,
 * and does not reach the handler.
 */
export function Idempotent(): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT, true),
    ApiIdempotent(),
    // What other interceptors make of an answer is remembered, not what they were given.
    atTheOutermost(IdempotencyInterceptor, LocationInterceptor),
  );
}

export function isIdempotent(handler: object): boolean {
  return Reflect.hasMetadata(IDEMPOTENT, handler);
}

@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (!isIdempotent(context.getHandler())) return next.handle();
    const request = idempotentRequestOf(context);
    if (request === undefined) return next.handle();
    return from(this.answer(request, context, next));
  }

  private async answer(
    request: IdempotentRequest,
    context: ExecutionContext,
    next: CallHandler,
  ): Promise<unknown> {
    const { answer, replayed } = await this.idempotency.transact(request, async () => {
      const value = await lastValueFrom<unknown, undefined>(next.handle(), {
        defaultValue: undefined,
      });
      if (!isOfJson(value)) throw new UnrepeatableAnswerError(nameOfOperation(context), value);
      return { answer: value === undefined ? '' : stringifyJson(value), location: '' };
    });
    if (replayed) replyOf(context).header('idempotent-replayed', 'true');
    // Read again, the first time as well: it is the same, whoever looks at it on its way out.
    return answer === '' ? undefined : parseOwnJson(answer);
  }
}
Reflect.defineMetadata(READS_NO_BODY, true, IdempotencyInterceptor);

/** What an answer of bytes, or of parts, would be in JSON is not what it is. */
function isOfJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const isBytes = value instanceof StreamableFile || ArrayBuffer.isView(value);
  return !isBytes && !(value instanceof Response) && !(Symbol.asyncIterator in value);
}

class UnrepeatableAnswerError extends Error {
  constructor(operation: string, value: unknown) {
    const kind = (value as object).constructor?.name ?? 'stream';
    super(`${operation}: @Idempotent() remembers JSON, and cannot repeat a ${kind}`);
  }
}
