import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { ApiError } from '../errors/api-error.js';
import type { ErrorFactory } from '../errors/define-errors.js';
import { type ErrorCode, errors, serviceUnavailable } from '../errors/errors.js';
import { Logger } from '../telemetry/logger.js';
import { ClientAddress } from './client-address.js';
import { toApiError } from './http-exception.js';
import { OutageDetector } from './outage-detector.js';
import { PublicAddress } from './public-address.js';
import { type ApiReply, type ApiRequest, appendHeader } from './request-context.js';
import { RouteTable } from './route-table.js';
import { pathOf } from './target.js';

/** Code and message for the status of a Fastify error, whose own message may reveal too much. */
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
/** Statuses without a body (RFC 9110 section 15) that an extension may throw. */
const BODILESS = new Set([204, 205, 304]);
const OUTAGE_LOG_INTERVAL_MS = 60_000;

/** Turns every error into the Error body of the specification; the only place that does. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  private outageLoggedMs = -Infinity;

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
    // Middleware gets Node's request. Its error arrives again, with Fastify's.
    if ((request as Partial<ApiRequest>).raw === undefined) {
      http.getNext<(error: unknown) => void>()(thrown);
      return;
    }
    this.send(this.toApiError(thrown), request, http.getResponse<ApiReply>());
  }

  toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown as ApiError;
    if (this.outages.isOutage(thrown)) return serviceUnavailable(thrown);
    // Nest wraps an error of Fastify in an exception with its message.
    const status = fastifyStatus(thrown instanceof HttpException ? thrown.cause : thrown);
    const known = FASTIFY_ERRORS[status ?? 0];
    if (known !== undefined) {
      const refuse: ErrorFactory = errors[known[0]];
      return refuse(known[1], { cause: thrown });
    }
    if (thrown instanceof HttpException) return toApiError(thrown);
    return errors.internal_error('The service failed to answer this request', { cause: thrown });
  }

  private send(error: ApiError, request: ApiRequest, reply: ApiReply): void {
    request.refusal = { code: error.code, address: this.addresses.of(request.raw) };
    this.log(error, request);
    if (reply.sent) return;
    reply.code(error.status);
    for (const [name, value] of Object.entries(error.headers ?? {})) {
      // An extension that throws an exception of Nest may have set the header already.
      if (error.cause instanceof HttpException && reply.hasHeader(name)) continue;
      reply.header(name, value);
    }
    if (BODILESS.has(error.status)) {
      reply.send();
      return;
    }
    reply.header('cache-control', 'no-store');
    reply.type('application/json; charset=utf-8');
    if (error.status === 405 && !reply.hasHeader('allow')) {
      reply.header('allow', this.routes.methodsOf(pathOf(request.url)).join(', '));
    }
    if (isExplained(error)) {
      const guide = `${this.publicAddress.docsUrl}/guides/clients#${error.code}`;
      appendHeader(reply, 'link', `<${guide}>; rel="describedby"; type="text/html"`);
    }
    reply.send(error.toBody());
  }

  private log(error: ApiError, { id, operation }: ApiRequest): void {
    const details = { requestId: id, operation, code: error.code, err: error.cause ?? error };
    if (error.status >= 500 && error.status !== 503) {
      this.logger.error(details, 'Request failed');
    } else if (error.cause !== undefined) {
      const level = error.status === 503 && this.isOutageDue() ? 'warn' : 'debug';
      this.logger[level](details, `Answered ${error.status}`);
    }
  }

  /** During an outage, one line a minute states the cause. */
  private isOutageDue(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.outageLoggedMs < OUTAGE_LOG_INTERVAL_MS) return false;
    this.outageLoggedMs = nowMs;
    return true;
  }
}

/** The client guide explains the conflicts of the service. */
function isExplained({ status, code }: ApiError): boolean {
  return (status === 409 || status === 422) && Object.hasOwn(errors, code);
}

function fastifyStatus(thrown: unknown): number | undefined {
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  const isFastify = typeof code === 'string' && code.startsWith('FST_');
  return isFastify && typeof statusCode === 'number' ? statusCode : undefined;
}
