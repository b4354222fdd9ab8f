import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { stringifyJson } from '../http/stringify-json.js';
import { parseOwnJson } from '../input/json.js';
import {
  ApiIdempotent,
  type IdempotentRequest,
  idempotentRequestOf,
} from './idempotency-key.decorator.js';
import { IdempotencyService } from './idempotency.service.js';

export interface IdempotentOptions {
  /**
   * False if the handler passes its `@IdempotencyKey()` to `IdempotencyService` itself. Default: everything that the
   * handler does through TypeORM is one transaction, and the response is stored in it.
   */
  transaction?: boolean;
}

/**
 * Accepts an `Idempotency-Key`: a repeat within 24 hours gets the first response, and does not reach the handler. The
 * response is stored if and only if the handler's changes are committed.
 */
export function Idempotent({ transaction = true }: IdempotentOptions = {}): MethodDecorator {
  return transaction
    ? applyDecorators(ApiIdempotent(), UseInterceptors(IdempotencyInterceptor))
    : ApiIdempotent();
}

@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = idempotentRequestOf(context);
    return request === undefined ? next.handle() : from(this.transact(request, next));
  }

  /** A first response is read from its text as well, so that it equals its replays. */
  private async transact(request: IdempotentRequest, next: CallHandler): Promise<unknown> {
    const { answer } = await this.idempotency.transact(request, async () => {
      const value = await lastValueFrom<unknown, undefined>(next.handle(), {
        defaultValue: undefined,
      });
      // Interceptors of the class are outside: what they would leave out of an instance must not be stored.
      return value === undefined ? '' : stringifyJson(instanceToPlain(value));
    });
    return answer === '' ? undefined : parseOwnJson(answer);
  }
}
