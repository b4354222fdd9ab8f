import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Histogram } from 'prom-client';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set while requests are traced. */
    traceId?: string;
  }
}

type Label = 'operation' | 'method' | 'status';

/** Bounds the label: Node parses some thirty methods. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Health checks, which supervisors send every few seconds. */
export function isProbe(url: string): boolean {
  return url.startsWith('/health/');
}

/** Writes one log line and one observation per answered request. */
@Injectable()
export class AccessLog implements OnModuleInit {
  private readonly durations: Histogram<Label>;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    this.durations = metrics.histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the parsed request head to the end of the response, by operation, method and status.',
      labelNames: ['operation', 'method', 'status'],
    });
  }

  onModuleInit(): void {
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onResponse', (request, reply, done) => {
      this.record(request, reply.statusCode, reply.elapsedTime);
      done();
    });
  }

  private record(request: FastifyRequest, status: number, elapsedMs: number): void {
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
    };
    if (refusal !== undefined) {
      // The pattern of the route: the path itself may hold a secret.
      const path = request.routeOptions.url ?? 'none';
      this.logger.info({ ...line, path, ...refusal }, 'request');
    } else if (isProbe(request.url)) this.logger.debug(line, 'request');
    else this.logger.info(line, 'request');
  }
}
