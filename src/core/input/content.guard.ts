import { MIMEType } from 'node:util';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { IncomingHttpHeaders } from 'node:http';
import { assertTarget } from '../http/malformed-message.js';
import { type Operation, Operations } from '../http/operations.js';
import { PerOperation, requestOf } from '../http/request.js';
import { invalidRequest, notJson, undeclared } from './invalid-request.js';
import { parseBody } from './json.js';
import { STRICT_INPUT } from './strict-input.decorator.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The bytes of the body as they were sent. */
    rawBody?: Buffer | undefined;
  }
}

/**
 * The last guard, after the key, the quota and the scopes. Rejects a malformed request and a query
 * that `@StrictInput()` does not allow, and parses the body that Fastify has buffered.
 */
@Injectable()
export class ContentGuard implements CanActivate {
  /** Undefined for the catch-all controller. */
  private readonly declared = new PerOperation((handler, controller) => {
    const operation = this.operations.find(handler, controller);
    return operation && declarationOf(operation);
  });

  constructor(private readonly operations: Operations) {}

  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    assertTarget(request);
    const { headers } = request.raw;
    const bytes = (request.rawBody = request.body as Buffer | undefined);
    request.body = undefined;
    const declared = this.declared.of(context);
    // An unknown path or a wrong method takes precedence over what follows.
    if (declared === undefined) return true;
    if (request.bodyError !== undefined) throw request.bodyError;
    const query = Object.keys(request.query as object);
    if (query.length > 0 && !declared.mayHaveQuery) {
      throw invalidRequest(query.map((name) => undeclared(name, 'query')));
    }
    // A body that the operation does not declare is parsed if it is JSON: guards and interceptors
    // may read `request.body`, as behind a body parser. `InputPipe` rejects a request without a
    // body that the operation needs.
    const isParsed = bytes?.length
      ? declared.hasBody || (!declared.isStrict && isJson(headers))
      : declared.hasBody && headers['content-type'] !== undefined;
    if (isParsed) {
      if (!isJson(headers)) throw notJson();
      request.body = parseBody(bytes);
    }
    return true;
  }
}

function declarationOf({ controller, key }: Operation) {
  const parameters = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, key) as object;
  // The keys of Nest's metadata are `KIND:INDEX`.
  const declares = (kind: RouteParamtypes): boolean =>
    Object.keys(parameters ?? {}).some((each) => each.startsWith(`${kind}:`));
  const isStrict = Reflect.hasMetadata(STRICT_INPUT, controller);
  const mayHaveQuery = declares(RouteParamtypes.QUERY) || !isStrict;
  return { hasBody: declares(RouteParamtypes.BODY), mayHaveQuery, isStrict };
}

/**
 * Whether a body can be parsed by its header fields. A long media type would take long to parse.
 */
export function isJson(headers: IncomingHttpHeaders): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity' || type.length > 256) return false;
  if (type === 'application/json') return true;
  try {
    const { essence, params } = new MIMEType(type);
    return essence === 'application/json' && /^utf-?8$/i.test(params.get('charset') ?? 'utf-8');
  } catch {
    return false;
  }
}
