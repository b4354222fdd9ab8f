import { MIMEType } from 'node:util';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { IncomingHttpHeaders } from 'node:http';
import { bodyRulesOfHandler } from '../http/body.decorators.js';
import { assertTarget } from '../http/malformed-message.js';
import { hasParameter, type Operation, Operations } from '../http/operations.js';
import { PerOperation, requestOf } from '../http/request.js';
import { invalidRequest, undeclared, unsupported } from './invalid-request.js';
import { parseBody } from './json.js';
import { STRICT_INPUT } from './strict-input.decorator.js';

/**
 * The last guard, after the key, the quota and the scopes. Rejects a malformed request and a query
 * that `@StrictInput()` does not allow, and parses the body that the transport has buffered.
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
    const declared = this.declared.of(context);
    // An unknown path or a wrong method takes precedence over what follows.
    if (declared === undefined) return true;
    if (request.bodyError !== undefined) throw request.bodyError;
    const query = Object.keys(request.query as object);
    if (query.length > 0 && !declared.mayHaveQuery) {
      throw invalidRequest(query.map((name) => undeclared(name, 'query')));
    }
    request.body = contentOf(request.rawBody, headers, declared);
    return true;
  }
}

/** @throws {ApiError} 415, or 400 for JSON that the service does not accept */
function contentOf(
  bytes: Buffer | undefined,
  headers: IncomingHttpHeaders,
  { hasBody, isStrict, types, values }: ReturnType<typeof declarationOf>,
): unknown {
  if (types !== undefined) return binaryOf(bytes, headers, types);
  // A body that the operation does not declare is parsed if it is JSON: guards and interceptors
  // may read `request.body`, as behind a body parser. `InputPipe` rejects a request without a
  // body that the operation needs.
  const isParsed = bytes?.length
    ? hasBody || (!isStrict && isJson(headers))
    : hasBody && headers['content-type'] !== undefined;
  if (!isParsed) return undefined;
  if (!isJson(headers)) throw unsupported();
  return parseBody(bytes, values);
}

function binaryOf(
  bytes: Buffer = Buffer.alloc(0),
  headers: IncomingHttpHeaders,
  types: readonly string[],
): Buffer {
  const type = mediaTypeOf(headers)?.essence;
  if (type === undefined || !types.includes(type)) throw unsupported(types);
  return bytes;
}

function declarationOf(operation: Operation) {
  const isStrict = Reflect.hasMetadata(STRICT_INPUT, operation.controller);
  const mayHaveQuery = hasParameter(operation, RouteParamtypes.QUERY) || !isStrict;
  const { types, values } = bodyRulesOfHandler(operation.handler);
  const hasBody = hasParameter(operation, RouteParamtypes.BODY);
  return { hasBody, mayHaveQuery, isStrict, types, values };
}

/** Whether a body can be parsed by its header fields. */
export function isJson(headers: IncomingHttpHeaders): boolean {
  const type = mediaTypeOf(headers);
  if (type?.essence !== 'application/json') return false;
  return /^utf-?8$/i.test(type.params.get('charset') ?? 'utf-8');
}

/**
 * @returns undefined for a body with a content encoding, or without a valid media type; a long one
 *   would take long to parse
 */
function mediaTypeOf(headers: IncomingHttpHeaders): MIMEType | undefined {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity' || type.length > 256) return undefined;
  try {
    return new MIMEType(type);
  } catch {
    return undefined;
  }
}
