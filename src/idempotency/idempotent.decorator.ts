import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { LocationInterceptor, useOuterInterceptor } from '../http/creates.decorator.js';
import { replyOf } from '../http/request-context.js';
import { stringifyJson } from '../http/stringify-json.js';
import { parseOwnJson } from '../input/json.js';
import {
  ApiIdempotent,
  type IdempotentRequest,
  idempotentRequestOf,
} from './idempotency-key.decorator.js';
import { IdempotencyService } from './idempotency.service.js';

const IDEMPOTENT = 'petstore:idempotent';

export interface IdempotentOptions {
  /**
   * False if the handler writes with a single `IdempotencyService.insert()`, which stores the response itself. Default:
   * everything that the handler does through TypeORM is one transaction, and the response is stored in it.
   */
  transaction?: boolean;
}

/**
 * Accepts an `Idempotency-Key`: a repeat within 24 hours gets the first response, and does not reach the handler. The
 * response is stored if and only if the handler's changes are committed.
 */
export function Idempotent({ transaction = true }: IdempotentOptions = {}): MethodDecorator {
  return applyDecorators(
    SetMetadata(IDEMPOTENT, { transaction }),
    ApiIdempotent(),
    useOuterInterceptor(IdempotencyInterceptor, LocationInterceptor),
  );
}

@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(private readonly idempotency: IdempotencyService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const options = Reflect.getMetadata(IDEMPOTENT, context.getHandler()) as
      Required<IdempotentOptions> | undefined;
    const request = options && idempotentRequestOf(context);
    if (request === undefined) return next.handle();
    const run = (): Promise<unknown> =>
      lastValueFrom<unknown, undefined>(next.handle(), { defaultValue: undefined });
    return from(
      options!.transaction
        ? this.transact(request, context, run)
        : this.insertOnce(request, context, run),
    );
  }

  /** A first response is read from its text as well, so that it equals its replays. */
  private async transact(
    request: IdempotentRequest,
    context: ExecutionContext,
    run: () => Promise<unknown>,
  ): Promise<unknown> {
    const { answer, replayed } = await this.idempotency.transact(request, async () => {
      const value = await run();
      // Interceptors of the class are outside: what they would leave out of an instance must not be stored.
      return value === undefined ? '' : stringifyJson(instanceToPlain(value));
    });
    return replayed ? replay(context, answer) : parse(answer);
  }

  private async insertOnce(
    request: IdempotentRequest,
    context: ExecutionContext,
    run: () => Promise<unknown>,
  ): Promise<unknown> {
    const outcome = await this.idempotency.once(request, run);
    return outcome.isReplay ? replay(context, outcome.answer) : outcome.result;
  }
}

function replay(context: ExecutionContext, answer: string): unknown {
  replyOf(context).header('idempotent-replayed', 'true');
  return parse(answer);
}

function parse(answer: string): unknown {
  return answer === '' ? undefined : parseOwnJson(answer);
}
