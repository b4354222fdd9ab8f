import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { IncomingHttpHeaders } from 'node:http';
import { errors } from '../errors/errors.js';
import { FallbackController } from '../http/fallback.controller.js';
import { PerOperation, requestOf } from '../http/request-context.js';
import { notJson } from './invalid-request.js';
import { parseBody } from './json.js';
import { hasParameter, RouteParamtypes } from './operation-input.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they were sent. */
    rawBody?: Buffer | undefined;
  }
}

/** 64 KiB: some hundred times the largest pet. */
const MAX_BODY_BYTES = 65_536;

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * The last guard: checks and parses the body that Fastify has buffered, after the key, the quota and the scopes. An
 * operation that declares no body parses one only if it is JSON, for guards and interceptors that look at
 * `request.body`, as behind a body parser.
 */
@Injectable()
export class BodyGuard implements CanActivate {
  private readonly declaresBody = new PerOperation((controller, handler) =>
    hasParameter(controller, handler, RouteParamtypes.BODY),
  );

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { headers, method } = request.raw;
    const bytes = request.body as Buffer | undefined;
    request.rawBody = bytes;
    request.body = undefined;
    if (context.getClass() === FallbackController || METHODS_WITHOUT_BODY.has(method!)) return true;
    const isDeclared = this.declaresBody.of(context);
    if (isDeclared ? isAbsent(bytes, headers) : !bytes?.length || !isJson(headers)) return true;
    assertReadable(bytes, headers);
    request.body = parseBody(bytes ?? Buffer.alloc(0));
    return true;
  }
}

/** Without a media type too. The pipe decides whether the operation can do without a body. */
function isAbsent(bytes: Buffer | undefined, headers: IncomingHttpHeaders): boolean {
  return !bytes?.length && headers['content-type'] === undefined;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** White space is matched only before a parameter: two ways to match it would mean exponential backtracking. */
const JSON_MEDIA_TYPE = new RegExp(
  `^application/json((?:[ \\t]*;(?:[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))?)*)[ \\t]*$`,
  'i',
);
const PARAMETERS = new RegExp(`(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")`, 'g');
const UTF8 = /^utf-?8$/i;

function isJson(headers: IncomingHttpHeaders): boolean {
  return JSON_MEDIA_TYPE.test(headers['content-type'] ?? '');
}

/** @throws {ApiError} 415 `unsupported_media_type`, 413 `payload_too_large` */
export function assertReadable(bytes: Buffer | undefined, headers: IncomingHttpHeaders): void {
  const [, parameters] = JSON_MEDIA_TYPE.exec(headers['content-type'] ?? '') ?? [];
  if (parameters === undefined) throw notJson();
  for (const [, name, bare, quoted] of parameters.matchAll(PARAMETERS)) {
    if (name!.toLowerCase() === 'charset' && !UTF8.test((bare ?? quoted)!)) {
      throw errors.unsupported_media_type('The charset of the body must be utf-8');
    }
  }
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') {
    throw errors.unsupported_media_type('The body must be sent without content encoding');
  }
  if (bytes !== undefined && bytes.length > MAX_BODY_BYTES) {
    throw errors.payload_too_large(`The body must not exceed ${MAX_BODY_BYTES} bytes`);
  }
}
