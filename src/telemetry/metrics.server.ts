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

/** `GET /metrics` on a port of its own, never on the public one. */
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
    if (port === 0) return;
    this.metrics.collectProcessMetrics();
    this.server = createServer((request, response) => void this.respond(request, response));
    // The API is served even if the metrics are not.
    this.server.on('error', (err) =>
      this.logger.error(
        { err, port },
        'Metrics are not served: set METRICS_HOST and METRICS_PORT to a free address of this machine, or METRICS_PORT=0 to turn them off',
      ),
    );
    this.server.listen(port, host).unref();
  }

  /** Undefined if it is turned off or could not listen. */
  get url(): string | undefined {
    const address = this.server?.address() as AddressInfo | null | undefined;
    if (!address) return undefined;
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
    return `http://${host}:${address.port}/metrics`;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async respond({ method, url = '' }: IncomingMessage, response: ServerResponse) {
    response.setHeader('x-content-type-options', 'nosniff');
    // Prometheus sends the `params` of a job as a query.
    if (url.split('?')[0] !== '/metrics') return response.writeHead(404).end();
    if (method !== 'GET' && method !== 'HEAD') {
      return response.writeHead(405, { allow: 'GET, HEAD' }).end();
    }
    try {
      const { contentType, body } = await this.metrics.expose();
      const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
      return response.writeHead(200, headers).end(body);
    } catch (err) {
      this.logger.error({ err }, 'A metric could not be read');
      return response.writeHead(500).end();
    }
  }
}
