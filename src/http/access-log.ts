import { Injectable } from '@nestjs/common';
import type { Histogram } from 'prom-client';
import { isProbe } from '../telemetry/is-probe.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { clientAddress } from './client-address.js';
import type { ApiRequest } from './request-context.js';
import { Transport } from './transport.js';

type Label = 'operation' | 'method' | 'status';

/** Bounds the label: Node parses some thirty methods. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Writes one log line and one observation per response. */
@Injectable()
export class AccessLog {
  private readonly durations: Histogram<Label>;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
    { server }: Transport,
  ) {
    this.durations = metrics.histogram({
      name: 'http_request_duration_seconds',
      help:
        'Time from the parsed request head to the end of the response, ' +
        'by operation, method and status.',
      labelNames: ['operation', 'method', 'status'],
    });
    server.addHook('onResponse', (request, reply, done) => {
      this.record(request, reply.statusCode, reply.elapsedTime);
      done();
    });
  }

  private record(request: ApiRequest, status: number, elapsedMs: number): void {
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
      address: clientAddress(request),
    };
    const level = refusal === undefined && isProbe(request.url) ? 'debug' : 'info';
    this.logger[level](line, 'request');
  }
}
