import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { ApiError, type ErrorCode, serviceUnavailable } from './api-error.js';
import { OutageDetector } from './outage-detector.js';
import type { ApiReply, ApiRequest } from './request-context.js';

/** What a framework's exception is to a caller, in our words: theirs may tell too much. */
const FRAMEWORK_ERRORS: Record<number, readonly [ErrorCode, string]> = {
  400: ['malformed_request', 'The request is not well-formed HTTP'],
  401: ['invalid_api_key', 'The API key is not valid'],
  403: ['insufficient_scope', 'The API key does not allow this operation'],
  404: ['not_found', 'There is no such resource'],
  405: ['method_not_allowed', 'The resource has no such method'],
  408: ['request_timeout', 'The request did not arrive in time'],
  413: ['payload_too_large', 'The body is too large'],
  414: ['uri_too_long', 'The request target is too long'],
  415: ['unsupported_media_type', 'The media type is not supported'],
  417: ['expectation_failed', 'The expectation cannot be met'],
  431: ['header_fields_too_large', 'The header fields are too large'],
};

/** Shapes every error into the Error body of the specification; the only place that does. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly outages: OutageDetector,
    private readonly logger: Logger,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<ApiRequest>();
    const reply = http.getResponse<ApiReply>();
    this.send(this.toApiError(thrown), request, reply);
  }

  /** Answers `error`, and logs what the caller is not told. */
  send(error: ApiError, request: ApiRequest, reply: ApiReply): void {
    if (error.status >= 500) this.log(error, request);
    // The client may be gone, or cut off for being slow, while its request was judged.
    if (reply.sent) return;
    reply.code(error.status).type('application/json; charset=utf-8');
    if (error.headers !== undefined) reply.headers(error.headers);
    reply.send(error.toBody());
  }

  toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError) return thrown;
    if (this.outages.isOutage(thrown)) return serviceUnavailable(thrown);
    const known = FRAMEWORK_ERRORS[frameworkStatus(thrown) ?? 0];
    if (known !== undefined) return new ApiError(known[0], known[1], { cause: thrown });
    return new ApiError('internal_error', 'The service failed to answer this request', {
      cause: thrown,
    });
  }

  private log(error: ApiError, request: ApiRequest): void {
    const details = {
      requestId: request.id,
      operation: request.operation,
      code: error.code,
      err: error.cause ?? error,
    };
    // An outage has its own line where it is noticed; one more per request would bury it.
    if (error.status === 503) this.logger.debug(details, 'Answered 503');
    else this.logger.error(details, 'A request failed; the error says where');
  }
}

/** Nest's exceptions and Fastify's errors carry their status under different names. */
function frameworkStatus(thrown: unknown): number | undefined {
  if (thrown instanceof HttpException) return thrown.getStatus();
  const status = (thrown as { statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : undefined;
}
