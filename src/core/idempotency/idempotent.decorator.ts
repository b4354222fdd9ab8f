import { hash } from 'node:crypto';
import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { PublicAddress } from '../config/public-address.js';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { setLocation } from '../http/creates.decorator.js';
import { replyOf, requestOf } from '../http/request.js';
import { invalidRequest } from '../input/invalid-request.js';
import { KEY_FORM } from '../keys/api-key-format.js';
import { IdempotencyService, type IdempotentRequest } from './idempotency.service.js';
import { ResponseSerializer } from './response-serializer.js';

const FIELD_NAME = 'idempotency-key';
const MAX_LENGTH = 255;
const NO_BODY = Buffer.alloc(0);
/**
 * draft-ietf-httpapi-idempotency-key-header: a quoted string (RFC 9651). A bare key is accepted
 * too.
 */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** The documented form: a quoted key, or a bare one without blanks around it. */
const FIELD = /^(?:"(?:[ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-~](?:[ -~]{0,253}[!-~])?)$/;
/** A quoted key with an escape before each character. */
const MAX_FIELD_LENGTH = 2 * MAX_LENGTH + 2;

/** @throws {ApiError} 400 if the header is not exactly one valid key */
function idempotentRequestOf(context: ExecutionContext): IdempotentRequest | undefined {
  const request = requestOf(context);
  const { raw, method, url, caller } = request;
  const field = raw.headers[FIELD_NAME];
  if (field === undefined) return undefined;
  // A request of Fastify's `inject` has no `headersDistinct`.
  const fields = (raw.headersDistinct ?? {})[FIELD_NAME] ?? [String(field)];
  const target = Buffer.from(`${method} ${url}\n`);
  return {
    clientId: caller!.quota.key,
    idempotencyKey: parseKey(fields),
    bodyDigest: hash('sha256', Buffer.concat([target, request.rawBody ?? NO_BODY]), 'base64url'),
  };
}

function parseKey([field = '', ...others]: readonly string[]): string {
  const key = QUOTED.exec(field)?.[1]?.replace(/\\(.)/g, '$1') ?? field;
  if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
    throw invalidRequest([
      `Idempotency-Key must be sent once, with 1 to ${MAX_LENGTH} printable ASCII characters`,
    ]);
  }
  // It is stored as it is.
  if (KEY_FORM.test(key)) throw invalidRequest(['Idempotency-Key must not contain an API key']);
  return key;
}

/**
 * Accepts an `Idempotency-Key`: a repeat within 24 hours gets the first response, and does not
 * reach the handler. What the handler does through TypeORM and table gateways is one transaction
 * with the record of the response: either both are stored, or neither.
 */
export function Idempotent(): MethodDecorator {
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
    UseInterceptors(IdempotencyInterceptor),
  );
}

@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly idempotency: IdempotencyService,
    private readonly serializer: ResponseSerializer,
    private readonly address: PublicAddress,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = idempotentRequestOf(context);
    return request === undefined ? next.handle() : from(this.respond(request, context, next));
  }

  private async respond(
    request: IdempotentRequest,
    context: ExecutionContext,
    next: CallHandler,
  ): Promise<unknown> {
    const { response, isReplay } = await this.idempotency.runOnce(request, async () => {
      const result = await lastValueFrom<unknown, undefined>(next.handle(), {
        defaultValue: undefined,
      });
      return this.serializer.serialize(context, result);
    });
    if (!isReplay) return response;
    replyOf(context).header('idempotent-replayed', 'true');
    // Below `@Creates()`, this interceptor is the outer one: on a replay, the other has not run.
    setLocation(context, response, this.address);
    return response;
  }
}
