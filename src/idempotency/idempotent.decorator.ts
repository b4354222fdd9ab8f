import { hash } from 'node:crypto';
import {
  applyDecorators,
  type CallHandler,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { instanceToPlain } from 'class-transformer';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { replyOf, requestOf } from '../http/request-context.js';
import { stringifyJson } from '../http/stringify-json.js';
import { invalidRequest } from '../input/invalid-request.js';
import { parseOwnJson } from '../input/json.js';
import { IdempotencyService, type IdempotentRequest } from './idempotency.service.js';

const FIELD_NAME = 'idempotency-key';
const MAX_LENGTH = 255;
const NO_BODY = Buffer.alloc(0);
/**
 * draft-ietf-httpapi-idempotency-key-header: a quoted string (RFC 8941). A bare key is accepted as
 * well.
 */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** The documented form: a quoted key, or a bare one without blanks around it. */
const FIELD = /^(?:"(?:[ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-~](?:[ -~]{0,253}[!-~])?)$/;
/** A quoted key with an escape before each character. */
const MAX_FIELD_LENGTH = 2 * MAX_LENGTH + 2;

/**
 * Parameter of a handler: the `IdempotentRequest` for `IdempotencyService`. Undefined without an
 * `Idempotency-Key`.
 */
export const IdempotencyKey = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  idempotentRequestOf(context),
);

/** @throws {ApiError} 400 if the header is not exactly one valid key */
function idempotentRequestOf(context: ExecutionContext): IdempotentRequest | undefined {
  const request = requestOf(context);
  const { raw, method, url, caller } = request;
  if (raw.headers[FIELD_NAME] === undefined) return undefined;
  const target = Buffer.from(`${method} ${url}\n`);
  return {
    keyId: caller!.keyId,
    idempotencyKey: parseKey(raw.headersDistinct[FIELD_NAME]!),
    bodyDigest: hash('sha256', Buffer.concat([target, request.rawBody ?? NO_BODY]), 'base64url'),
    markReplayed: () => void replyOf(context).header('idempotent-replayed', 'true'),
  };
}

function parseKey([field = '', ...others]: readonly string[]): string {
  const key = QUOTED.exec(field)?.[1]?.replace(/\\(.)/g, '$1') ?? field;
  if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
    throw invalidRequest([`Idempotency-Key must be 1 to ${MAX_LENGTH} printable ASCII characters`]);
  }
  return key;
}

export interface IdempotentOptions {
  /**
   * False if the handler passes its `@IdempotencyKey()` to `IdempotencyService` itself. Default:
   * everything that the handler does through TypeORM is one transaction, and the response is stored
   * in it.
   */
  transaction?: boolean;
}

/**
 * Accepts an `Idempotency-Key`: a repeat within 24 hours gets the first response, and does not
 * reach the handler. The response is stored if and only if the handler's changes are committed.
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
      // Interceptors of the class are outside: what they would leave out of an instance must not be
      // stored.
      return value === undefined ? '' : stringifyJson(instanceToPlain(value));
    });
    return answer === '' ? undefined : parseOwnJson(answer);
  }
}

/** Documents the `Idempotency-Key` of an operation and its responses. */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Makes retries safe. Within 24 hours, a repeat with the same key and body returns the first ' +
        'response and creates nothing. Use a new UUID for each resource, such as ' +
        '`8f14e45f-ceea-467f-a1d6-4c3f2b9a7d10`, and the same one for all retries.',
      // No `example`: the documentation page would send the same key with every request.
      schema: { type: 'string', minLength: 1, maxLength: MAX_FIELD_LENGTH, pattern: FIELD.source },
    }),
    ApiErrors('idempotency_key_in_use', 'idempotency_key_reused'),
  );
}
