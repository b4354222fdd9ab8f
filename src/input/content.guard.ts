import { MIMEType } from 'node:util';
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  type Type,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import { MetadataScanner } from '@nestjs/core';
import type { IncomingHttpHeaders } from 'node:http';
import { errors } from '../errors/errors.js';
import { FallbackController } from '../http/fallback.controller.js';
import { MAX_BODY_BYTES } from '../http/request-body.js';
import { type Handler, PerOperation, requestOf } from '../http/request-context.js';
import { invalidRequest, notJson, quoteForMessage } from './invalid-request.js';
import { parseBody } from './json.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they were sent. */
    rawBody?: Buffer | undefined;
  }
}

/** Injection token: the controllers under `/v1` of the service itself. */
export const CORE_CONTROLLERS = Symbol('CORE_CONTROLLERS');

/**
 * The last guard, after the key, the quota and the scopes. It rejects the query of a core operation that declares none,
 * and parses the body that Fastify has buffered.
 */
@Injectable()
export class ContentGuard implements CanActivate {
  private readonly declared = new PerOperation((controller, handler) => ({
    body: declares(RouteParamtypes.BODY, controller, handler),
    query: declares(RouteParamtypes.QUERY, controller, handler),
  }));

  constructor(@Inject(CORE_CONTROLLERS) private readonly coreControllers: ReadonlySet<Type>) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { headers } = request.raw;
    const bytes = request.body as Buffer | undefined;
    request.rawBody = bytes;
    request.body = undefined;
    const controller = context.getClass();
    if (controller === FallbackController) return true;
    const { body, query } = this.declared.of(context);
    if (!query && this.coreControllers.has(controller)) assertNoQuery(request.query as object);
    if (isToBeParsed(bytes, headers, body)) {
      assertReadable(bytes, headers);
      request.body = parseBody(bytes);
    }
    return true;
  }
}

/** Whether a handler has a parameter such as `@Body()`. The keys of Nest's metadata are `KIND:INDEX`. */
function declares(kind: RouteParamtypes, controller: Type, handler: Handler): boolean {
  const prototype = controller.prototype as Record<string, Handler>;
  // A decorator may have replaced the method by a function of another name.
  const names = new MetadataScanner().getAllMethodNames(prototype);
  const method = names.find((name) => prototype[name] === handler) ?? handler.name;
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) as object;
  return Object.keys(parameters ?? {}).some((key) => key.startsWith(`${kind}:`));
}

function assertNoQuery(query: object): void {
  const names = Object.keys(query).map(quoteForMessage);
  if (names.length === 0) return;
  throw invalidRequest(names.map((name) => `${name} is not a known query parameter`));
}

/**
 * `InputPipe` decides whether an operation can do without the body that it declares. A body that is not declared is
 * parsed if it is JSON, for guards and interceptors that look at `request.body`, as behind a body parser.
 */
function isToBeParsed(
  bytes: Buffer | undefined,
  headers: IncomingHttpHeaders,
  isDeclared: boolean,
): boolean {
  if (!bytes?.length) return isDeclared && headers['content-type'] !== undefined;
  return isDeclared || charsetOfJson(headers) !== undefined;
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
