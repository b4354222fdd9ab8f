import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Config } from '../config/config.js';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';

/** `GET /metrics` on a separate port, never on the public one. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { metricsHost: host, metricsPort: port } = this.config;
    const { headersTimeoutSeconds, requestTimeoutSeconds } = this.config;
    const timeouts = {
      headersTimeout: headersTimeoutSeconds * 1_000,
      requestTimeout: requestTimeoutSeconds * 1_000,
      connectionsCheckingInterval: 500,
    };
    if (port === 0) return;
    this.metrics.collectProcessMetrics();
    this.server = createServer(
      timeouts,
      (request, response) => void this.respond(request, response),
    );
    // Collecting metrics is expensive: only the first of several pipelined requests gets them. Node
    // sends `Connection: close` then, but closes only if `respond` sets that header itself.
    this.server.maxRequestsPerSocket = 1;
    // The API is served even if the metrics are not.
    this.server.on('error', (err) => {
      const message = 'Metrics server failed to listen; change METRICS_PORT or METRICS_HOST';
      this.logger.error({ err, port }, message);
    });
    this.server.listen(port, host).unref();
  }

  /** Undefined if it is turned off or could not listen. */
  get url(): string | undefined {
    const { address, port, family } = (this.server?.address() ?? {}) as Partial<AddressInfo>;
    const host = family === 'IPv6' ? `[${address}]` : address;
    return port === undefined ? undefined : `http://${host}:${port}/metrics`;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async respond({ url = '' }: IncomingMessage, response: ServerResponse) {
    response.setHeader('x-content-type-options', 'nosniff').setHeader('connection', 'close');
    // Prometheus sends the `params` of a job as a query.
    if (url.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    try {
      const { registry } = this.metrics;
      const body = await registry.metrics();
      return response.setHeader('content-type', registry.contentType).end(body);
    } catch (err) {
      this.logger.error({ err }, 'Failed to collect metrics');
      return response.writeHead(500).end();
    }
  }
}
