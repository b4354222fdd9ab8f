import { type ArgumentsHost, Catch, ConflictException, type ExceptionFilter } from '@nestjs/common';
import { isOutage, isTaken, isUnstorable } from './database/database-error.js';
import { ApiError } from './errors/api-error.js';
import { serviceUnavailable } from './errors/errors.js';
import { REQUIRED_HEADERS, toApiError } from './errors/to-api-error.js';
import { DatabaseFaults } from './database/database-faults.js';
import { clientAddress } from './http/client-address.js';
import type { ApiReply, ApiRequest } from './http/request.js';
import { Transport } from './http/transport.js';
import { invalidRequest } from './input/invalid-request.js';
import { Logger } from './telemetry/logger.js';

const TAKEN = 'A value that must be unique exists already';

/** A header that Node accepts (RFC 9110 section 5). */
const VALID_HEADER = /^[\w!#$%&'*+.^`|~-]+:[\t\x20-\x7e\x80-\xff]*$/;

/** Converts every error to the Error body of the specification. */
@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    private readonly faults: DatabaseFaults,
    private readonly transport: Transport,
    private readonly logger: Logger,
  ) {
    transport.failedStreams.listeners.push((thrown, request, reply) =>
      this.send(this.toApiError(thrown), request, reply),
    );
  }

  catch(thrown: unknown, host: ArgumentsHost): void {
    const [request, reply, next] = host.getArgs<[ApiRequest, ApiReply, (error: unknown) => void]>();
    // Middleware gets Node's request. Its error arrives again, with Fastify's.
    if (request.raw === undefined) next(thrown);
    else this.send(this.toApiError(thrown), request, reply);
  }

  toApiError(thrown: unknown): ApiError {
    if (thrown instanceof ApiError && thrown.getStatus() !== 500) return thrown as ApiError;
    if (isUnstorable(thrown)) return invalidRequest(['Text must not contain U+0000'], thrown);
    const isOfService = this.faults.report(thrown);
    if (isTaken(thrown) && !isOfService) {
      return toApiError(new ConflictException(TAKEN, { cause: thrown }));
    }
    return isOutage(thrown) ? serviceUnavailable(thrown) : toApiError(thrown);
  }

  private send(error: ApiError, request: ApiRequest, reply: ApiReply): void {
    const status = error.getStatus();
    request.rejection = { code: error.code, address: clientAddress(request) };
    this.log(error, request);
    if (reply.raw.headersSent) return breakOff(reply, status);
    if (reply.sent) return;
    // An invalid header caused this failure, and would make the error response fail as well.
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (!VALID_HEADER.test(`${name}:${String(value)}`)) reply.removeHeader(name);
    }
    // If the commit failed, `@Creates()` has already set it.
    reply.removeHeader('location');
    const [required, value] = REQUIRED_HEADERS[status] ?? [];
    if (required && !reply.hasHeader(required)) reply.header(required, value);
    if (status === 405 && !reply.hasHeader('allow')) {
      reply.header('allow', this.transport.routes.methodsOf(request.url).join(', '));
    }
    reply.headers(error.headers ?? {});
    reply.header('cache-control', 'no-store').type('application/json; charset=utf-8');
    reply.code(status).send(JSON.stringify(error.getResponse()));
  }

  private log(error: ApiError, { id: requestId, traceId, operation }: ApiRequest): void {
    const { code, cause } = error;
    const status = error.getStatus();
    const details = { requestId, traceId, operation, code, err: cause ?? error };
    if (status >= 500 && status !== 503) this.logger.error(details, 'Request failed');
    else if (cause !== undefined) {
      const level = status === 503 ? 'warn' : 'debug';
      this.logger[level](details, `Request failed with ${status}`);
    }
  }
}

/** The client has another status already. This one is for the log and the metrics. */
function breakOff(reply: ApiReply, status: number): void {
  reply.code(status);
  if (!reply.sent) reply.raw.destroy();
}
