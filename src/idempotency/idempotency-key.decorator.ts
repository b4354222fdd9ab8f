import { createHash } from 'node:crypto';
import { applyDecorators, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { replyOf, requestOf } from '../http/request-context.js';
import { pathOf } from '../http/target.js';
import { invalidRequest } from '../input/invalid-request.js';

const FIELD_NAME = 'idempotency-key';
const MAX_LENGTH = 255;
/** draft-ietf-httpapi-idempotency-key-header: a quoted string (RFC 8941). A bare key is accepted as well. */
const QUOTED = /^"((?:[^"\\]|\\["\\])*)"$/;
const PRINTABLE = /^[\x20-\x7e]+$/;
/** The documented form: a quoted key, or a bare one without blanks around it. */
const FIELD = /^(?:"(?:[ !#-\x5b\x5d-~]|\\["\\]){1,255}"|[!#-~](?:[ -~]{0,253}[!-~])?)$/;
/** A quoted key with an escape before each character. */
const MAX_FIELD_LENGTH = 2 * MAX_LENGTH + 2;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  keyId: string;
  idempotencyKey: string;
  /** SHA-256 of the method, the path and the body as sent, base64url. */
  bodyDigest: string;
  /** Adds `Idempotent-Replayed` to the response. */
  markReplayed: () => void;
}

/** The request as `IdempotencyService` takes it, as a parameter of a handler; undefined without an `Idempotency-Key`. */
export const IdempotencyKey = createParamDecorator(keyOf);

function keyOf(_data: unknown, context: ExecutionContext): IdempotentRequest | undefined {
  return idempotentRequestOf(context);
}

/** @throws {ApiError} 400 if the field is not one usable key */
export function idempotentRequestOf(context: ExecutionContext): IdempotentRequest | undefined {
  const request = requestOf(context);
  const { raw, method, url, caller } = request;
  if (raw.headers[FIELD_NAME] === undefined) return undefined;
  return {
    keyId: caller!.keyId,
    idempotencyKey: parseKey(raw.headersDistinct[FIELD_NAME]!),
    bodyDigest: createHash('sha256')
      .update(`${method} ${pathOf(url)}\n`)
      .update(request.rawBody ?? '')
      .digest('base64url'),
    markReplayed: () => void replyOf(context).header('idempotent-replayed', 'true'),
  };
}

function parseKey([text = '', ...others]: readonly string[]): string {
  const quoted = QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
  const key = quoted ?? text;
  if (others.length > 0 || key.length > MAX_LENGTH || !PRINTABLE.test(key)) {
    throw invalidRequest([`Idempotency-Key must be 1 to ${MAX_LENGTH} printable ASCII characters`]);
  }
  return key;
}

/** Documents the `Idempotency-Key` of an operation and its responses. */
export function ApiIdempotent(): MethodDecorator {
  return applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'Makes retries safe. Within 24 hours, a repeat with the same key and body returns the first ' +
        'response and creates nothing. Use a new UUID for each request, such as ' +
        '`8f14e45f-ceea-467f-a1d6-4c3f2b9a7d10`.',
      // No `example`: the documentation page would send the same key with every request.
      schema: { type: 'string', minLength: 1, maxLength: MAX_FIELD_LENGTH, pattern: FIELD.source },
    }),
    ApiErrors('idempotency_key_in_use', 'idempotency_key_reused'),
  );
}
