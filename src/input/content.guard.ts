import { MIMEType } from 'node:util';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { IncomingHttpHeaders } from 'node:http';
import { errors } from '../errors/errors.js';
import { assertWellFormed } from '../http/malformed-message.js';
import { type Operation, Operations } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import { MAX_BODY_BYTES } from '../http/request-body.js';
import { PerOperation, requestOf } from '../http/request-context.js';
import { invalidRequest, notJson, quoteForMessage } from './invalid-request.js';
import { parseBody } from './json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they were sent. */
    rawBody?: Buffer | undefined;
  }
}

/**
 * The last guard, after the key, the quota and the scopes. It rejects a malformed request and the query of a core
 * operation that declares none, and parses the body that Fastify has buffered.
 */
@Injectable()
export class ContentGuard implements CanActivate {
  /** Undefined for the catch-all controller. */
  private readonly declared = new PerOperation((controller, handler) => {
    const operation = this.operations.find(controller, handler);
    return operation && declarationOf(operation);
  });

  constructor(private readonly operations: Operations) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    assertWellFormed(request);
    const { headers } = request.raw;
    const bytes = request.body as Buffer | undefined;
    request.rawBody = bytes;
    request.body = undefined;
    const declared = this.declared.of(context);
    if (declared === undefined) return true;
    if (!declared.mayHaveQuery) assertNoQuery(request.query as object);
    // `InputPipe` decides whether an operation can do without the body that it declares. One that is not declared is
    // parsed if it is JSON, for guards and interceptors that look at `request.body`, as behind a body parser.
    const hasBytes = bytes !== undefined && bytes.length > 0;
    const isParsed = declared.hasBody
      ? hasBytes || headers['content-type'] !== undefined
      : hasBytes && charsetOfJson(headers) !== undefined;
    if (isParsed) {
      assertReadable(bytes, headers);
      request.body = parseBody(bytes);
    }
    return true;
  }
}

function declarationOf({ controller, key, isCore }: Operation) {
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) as object;
  // The keys of Nest's metadata are `KIND:INDEX`.
  const declares = (kind: RouteParamtypes): boolean =>
    Object.keys(parameters ?? {}).some((each) => each.startsWith(`${kind}:`));
  const mayHaveQuery = declares(RouteParamtypes.QUERY) || !isCore || isPublic(controller);
  return { hasBody: declares(RouteParamtypes.BODY), mayHaveQuery };
}

function assertNoQuery(query: object): void {
  const names = Object.keys(query).map(quoteForMessage);
  if (names.length === 0) return;
  throw invalidRequest(names.map((name) => `${name} is not a known query parameter`));
}

/** @throws {ApiError} 415 `unsupported_media_type`, 413 `payload_too_large` */
export function assertReadable(bytes: Buffer | undefined, headers: IncomingHttpHeaders): void {
  const charset = charsetOfJson(headers);
  if (charset === undefined) throw notJson();
  if (!/^utf-?8$/i.test(charset)) {
    throw errors.unsupported_media_type('The charset of the body must be utf-8');
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw errors.unsupported_media_type('The body must be sent without content encoding');
  }
  if (bytes !== undefined && bytes.length > MAX_BODY_BYTES) {
    throw errors.payload_too_large(`The body must not exceed ${MAX_BODY_BYTES} bytes`);
  }
}

/** Undefined for a media type other than `application/json`. A long one would take long to parse. */
function charsetOfJson({ 'content-type': type = '' }: IncomingHttpHeaders): string | undefined {
  if (type === 'application/json') return 'utf-8';
  if (type.length > 256) return undefined;
  try {
    const { essence, params } = new MIMEType(type);
    return essence === 'application/json' ? (params.get('charset') ?? 'utf-8') : undefined;
  } catch {
    return undefined;
  }
}
