import { createHash } from 'node:crypto';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { NEEDS_CALLER } from '../http/operations.js';
import { requestOf, type UnreadBody } from '../http/request-context.js';
import { pathOf } from '../http/target.js';
import { invalidRequest } from '../input/validation.js';

const FIELD_NAME = 'idempotency-key';
const MAX_LENGTH = 255;
/** draft-ietf-httpapi-idempotency-key-header: a quoted string (RFC 8941). */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** What is documented of the field: a quoted key, or a bare one, around which blanks would be no part of it. */
const FIELD = /^(?:"(?:[ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-~](?:[ -~]{0,253}[!-~])?)$/;
/** Quoted, with an escape before each character. */
const MAX_FIELD_LENGTH = 2 * MAX_LENGTH + 2;

/** A request that may be sent again without being done again. */
export interface IdempotentRequest {
  keyId: string;
  idempotencyKey: string;
  /** Of the body as sent, SHA-256, base64url; known once it has been read. */
  bodyDigest(): string;
}

/** The request's idempotency, as a controller's parameter; undefined without an `Idempotency-Key`. */
export const Idempotency = createParamDecorator(
  (_data: unknown, context: ExecutionContext): IdempotentRequest | undefined =>
    requestIn(context, ''),
);

/**
 * As a guest's operation sees it. A key that was used with another operation was used with another body:
 * its answer is not that of this one.
 */
export function idempotentRequestOf(context: ExecutionContext): IdempotentRequest | undefined {
  const { method, url } = requestOf(context);
  return requestIn(context, `${method} ${pathOf(url)}\n`);
}

/**
 * The request as `IdempotencyService.transact` takes it, as a controller's parameter; undefined without an
 * `Idempotency-Key`. `@ApiIdempotent()` documents it. Where nothing but the answer matters, `@Idempotent()` does all.
 */
export const IdempotencyKey = createParamDecorator(keyOf);

function keyOf(_data: unknown, context: ExecutionContext): IdempotentRequest | undefined {
  return idempotentRequestOf(context);
}
Reflect.defineMetadata(NEEDS_CALLER, '@IdempotencyKey()', keyOf);

/** @param whatElse is asked, besides the body */
function requestIn(context: ExecutionContext, whatElse: string): IdempotentRequest | undefined {
  const request = requestOf(context);
  const idempotencyKey = idempotencyKeyOf(request.raw);
  if (idempotencyKey === undefined) return undefined;
  return {
    keyId: request.caller!.keyId,
    idempotencyKey,
    bodyDigest: () =>
      createHash('sha256')
        .update(whatElse)
        .update((request.raw as UnreadBody).bytes ?? '')
        .digest('base64url'),
  };
}

/** @throws {ApiError} 400 where the field is not one usable key */
function idempotencyKeyOf(message: UnreadBody): string | undefined {
  if (message.headers[FIELD_NAME] === undefined) return undefined;
  const [text = '', ...others] = message.headersDistinct[FIELD_NAME]!;
  const quoted = QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? text;
  if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
    throw invalidRequest([`Idempotency-Key must be 1 to ${MAX_LENGTH} printable ASCII characters`]);
  }
  return key;
}

/** Documents what an operation with an `Idempotency-Key` takes and answers. */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Makes it safe to repeat the request: within 24 hours a repeat with the same key and body ' +
        'gets the first answer and creates nothing. A fresh UUID will do.',
      // Without an example: the page would send that one with every animal, and so create only one.
      schema: { type: 'string', minLength: 1, maxLength: MAX_FIELD_LENGTH, pattern: FIELD.source },
    }),
    ApiErrors('idempotency_key_in_use', 'idempotency_key_reused'),
  );
}
