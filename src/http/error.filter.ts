import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { ApiError } from '../errors/api-error.js';
import type { ErrorFactory } from '../errors/define-errors.js';
import { type ErrorCode, errors, serviceUnavailable } from '../errors/errors.js';
import { ClientAddress } from './client-address.js';
import { toApiError } from './http-exception.js';
import { OutageDetector } from './outage-detector.js';
import { PublicAddress } from './public-address.js';
import { type ApiReply, type ApiRequest, appendHeader } from './request-context.js';
import { RouteTable } from './route-table.js';
import { pathOf } from './target.js';

/** What Fastify's errors are to a caller, in our words: theirs may tell too much. */
const FASTIFY_ERRORS: Record<number, readonly [ErrorCode, string]> = {
  400: ['malformed_request', 'The request is not well-formed HTTP'],
  404: ['not_found', 'There is no such resource'],
  405: ['method_not_allowed', 'The resource has no such method'],
  408: ['request_timeout', 'The request did not arrive in time'],
  413: ['payload_too_large', 'The body is too large'],
  414: ['uri_too_long', 'The request target is too long'],
  415: ['unsupported_media_type', 'The media type is not supported'],
  431: ['header_fields_too_large', 'The header fields are too large'],
};
/** What a guest may throw as well, and what has no content (RFC 9110 section 15). */
const BODILESS = new Set([204, 205, 304]);
const FASTIFY_CODE = /^FST_/;
/** How often a 503 is told of an operation. */
const TELLING_INTERVAL_MS = 60_000;

/** Shapes every error into the Error body of the specification; the only place that does. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private readonly toldAtMs = new Map<string, number>();

  constructor(
    private readonly outages: OutageDetector,
    private readonly routes: RouteTable,
    private readonly addresses: ClientAddress,
    private readonly publicAddress: PublicAddress,
    private readonly logger: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const reply = http.getResponse<ApiReply>();
    // Of a middleware, which is given what is Node's: its error comes again, with what is Fastify's.
    if ((request as Partial<ApiRequest>).raw === undefined) {
      http.getNext<(error: unknown) => void>()(thrown);
      return;
    }
    this.send(this.toApiError(thrown), request, reply);
  }

  /** Answers `error`, and logs what the caller is not told. */
  send(error: ApiError, request: ApiRequest, reply: ApiReply): void {
    request.refusal = { code: error.code, address: this.addresses.of(request.raw) };
    if (error.status >= 500 || error.cause !== undefined) this.log(error, request);
    // The client may be gone, or cut off for being slow, while its request was judged.
    if (reply.sent) return;
    reply.code(error.status);
    setHeaders(error, reply);
    if (BODILESS.has(error.status)) {
      reply.send();
      return;
    }
    reply.type('application/json; charset=utf-8');
    if (error.status === 405 && !reply.hasHeader('allow')) {
      reply.header('allow', this.routes.methodsOf(pathOf(request.url)).join(', '));
    }
    if (isExplained(error)) this.linkTo(error.code, reply);
    reply.send(error.toBody());
  }

  /** What to do about it, beside what else the answer leads to. */
  private linkTo(code: string, reply: ApiReply): void {
    const entry = `<${this.publicAddress.docsUrl}/guides/clients#${code}>; rel="describedby"; type="text/html"`;
    appendHeader(reply, 'link', entry);
  }

  toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown as ApiError;
    if (this.outages.isOutage(thrown)) return serviceUnavailable(thrown);
    if (thrown instanceof HttpException) return toApiError(thrown);
    const known = FASTIFY_ERRORS[fastifyStatus(thrown) ?? 0];
    if (known !== undefined) {
      const refuse: ErrorFactory = errors[known[0]];
      return refuse(known[1], { cause: thrown });
    }
    return errors.internal_error('The service failed to answer this request', { cause: thrown });
  }

  /** Of an outage that others notice there is a line already; one more per request would bury it. */
  private isNews({ cause }: ApiError, { operation = '' }: ApiRequest): boolean {
    if (cause === undefined || this.outages.isNoticed(cause)) return false;
    const nowMs = performance.now();
    const isNews = nowMs - (this.toldAtMs.get(operation) ?? -Infinity) >= TELLING_INTERVAL_MS;
    if (isNews) this.toldAtMs.set(operation, nowMs);
    return isNews;
  }

  private log(error: ApiError, request: ApiRequest): void {
    const details = {
      requestId: request.id,
      operation: request.operation,
      code: error.code,
      err: error.cause ?? error,
    };
    if (error.status === 503) {
      const level = this.isNews(error, request) ? 'warn' : 'debug';
      this.logger[level](details, 'Answered 503; the error says why');
    }
    // What a caller has done wrong is in the line of the request; this is for who wonders why.
    else if (error.status < 500) this.logger.debug(details, `Refused with ${error.status}`);
    else this.logger.error(details, 'A request failed; the error says where');
  }
}

/** Conflicts are for the client's author to understand. A guest's codes have no entry in the guide. */
function isExplained({ status, code }: ApiError): boolean {
  return (status === 409 || status === 422) && Object.hasOwn(errors, code);
}

/** Of Fastify's own errors alone: that of another library says nothing of this request. */
function fastifyStatus(thrown: unknown): number | undefined {
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  const isFastify = typeof code === 'string' && FASTIFY_CODE.test(code);
  return isFastify && typeof statusCode === 'number' ? statusCode : undefined;
}

/** What a status needs, where it was not set already by who threw an exception of Nest. */
function setHeaders({ headers = {}, cause }: ApiError, reply: ApiReply): void {
  for (const [name, value] of Object.entries(headers)) {
    if (cause instanceof HttpException && reply.hasHeader(name)) continue;
    reply.header(name, value);
  }
}
