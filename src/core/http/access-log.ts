import { Injectable } from '@nestjs/common';
import type { Histogram } from 'prom-client';
import { isProbe } from '../telemetry/is-probe.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { clientAddress } from './client-address.js';
import type { ApiReply, ApiRequest } from './request.js';
import { Transport } from './transport.js';

/** Bounds the label: Node parses some thirty methods. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Writes one log line per request of each server, and one observation per response. */
@Injectable()
export class AccessLog {
  private readonly durations: Histogram<'operation' | 'method' | 'status'>;

  constructor(
    private readonly logger: Logger,
    metrics: Metrics,
    transport: Transport,
  ) {
    this.durations = metrics.histogram({
      name: 'http_request_duration_seconds',
      help:
        'Time from the parsed request head to the end of the response, ' +
        'by operation, method and status.',
      labelNames: ['operation', 'method', 'status'],
    });
    this.watch(transport);
  }

  watch(transport: Transport): void {
    transport.onArrival((request, reply) => {
      // A closed connection has no address.
      const address = clientAddress(request);
      let hasEnded = false;
      // An injected response is not `writableFinished` yet when it closes.
      reply.raw.once('finish', () => (hasEnded = !request.raw.socket.destroyed));
      // `onResponse` is not called if the client leaves before the end of its response.
      reply.raw.once('close', () => {
        const hasFailed = reply.raw.headersSent && request.rejection !== undefined;
        this.record(request, reply, address, hasEnded || hasFailed);
      });
    });
  }

  private record(request: ApiRequest, reply: ApiReply, address: string, hasEnded: boolean): void {
    const { operation = 'unknown', method, rejection } = request;
    const { statusCode, elapsedTime: elapsedMs } = reply;
    if (hasEnded) {
      const labels = { operation, method: labelOf(method), status: statusCode };
      this.durations.observe(labels, elapsedMs / 1000);
    }
    const line = {
      requestId: request.id,
      traceId: request.traceId,
      keyId: (request.caller ?? request.formerCaller)?.keyId,
      operation,
      method,
      status: hasEnded ? statusCode : undefined,
      durationMs: Math.round(elapsedMs * 100) / 100,
      // The pattern of the route: the path itself may hold a secret.
      path: rejection && (request.routeOptions.url ?? 'none'),
      code: rejection?.code,
      address,
    };
    const level = rejection === undefined && isProbe(request.url) ? 'debug' : 'info';
    this.logger[level](line, hasEnded ? 'request' : 'client left');
  }
}

function labelOf(method: string): string {
  return USUAL_METHODS.has(method) ? method : 'other';
}
