import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { Histogram } from 'prom-client';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';
import type { RequestContext } from './request-context.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while requests are traced. */
    traceId?: string;
  }
}

/** The parts of a request that its log line contains. The key itself is never one of them. */
interface LoggedRequest extends RequestContext {
  readonly operation: string | undefined;
  readonly method: string;
  readonly url: string;
  /** `url` is undefined if no route matched. */
  readonly routeOptions: { readonly url?: string | undefined };
  readonly caller?: { keyId: string } | undefined;
  /** The client of a key that is revoked or expired. */
  readonly formerCaller?: { keyId: string } | undefined;
  /** Set if the response is an error: the code of its body and the address of the client (IPv6: its /64). */
  readonly refusal?: { code: string; address: string } | undefined;
}

/** Bounds the label: Node parses some thirty methods. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Upper bounds, in seconds. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Health checks, which supervisors send every few seconds. */
export function isProbe(url: string): boolean {
  return url.startsWith('/health/');
}

/** Writes one log line and one observation per answered request. */
@Injectable()
export class AccessLog implements OnModuleInit {
  private readonly durations: Histogram<'operation' | 'method' | 'status'>;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.durations = metrics.histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request line to the last byte of the response, by operation, method and status.',
      labelNames: ['operation', 'method', 'status'],
      buckets: BUCKETS,
    });
  }

  onModuleInit(): void {
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onResponse', (request, reply, done) => {
      this.record(request, reply.statusCode, reply.elapsedTime);
      done();
    });
  }

  private record(request: LoggedRequest, status: number, elapsedMs: number): void {
    const { operation = 'unknown', method, refusal } = request;
    const usual = USUAL_METHODS.has(method) ? method : 'other';
    this.durations.observe({ operation, method: usual, status }, elapsedMs / 1000);
    const line = {
      requestId: request.id,
      traceId: request.traceId,
      keyId: (request.caller ?? request.formerCaller)?.keyId,
      operation,
      method,
      status,
      durationMs: Math.round(elapsedMs * 100) / 100,
      // The pattern of the route: the path itself may hold a secret.
      path: refusal && (request.routeOptions.url ?? 'none'),
      code: refusal?.code,
      address: refusal?.address,
    };
    if (refusal === undefined && isProbe(request.url)) this.logger.debug(line, 'request');
    else this.logger.info(line, 'request');
  }
}
