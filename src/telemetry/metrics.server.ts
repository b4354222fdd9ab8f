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

/** `GET /metrics` on a port of its own, on the loopback address, never on the public one. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    private readonly config: Config,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { metricsPort } = this.config;
    if (metricsPort === 0) return;
    this.server = createServer((request, response) => void this.answer(request, response));
    // The animals matter more than their metrics: a taken port is said loudly, and they are served.
    this.server.on('error', (err) =>
      this.logger.error(
        { err, port: metricsPort },
        'Metrics are not served: set METRICS_PORT to a free port, or to 0 to turn them off',
      ),
    );
    this.server.listen(metricsPort, '127.0.0.1');
    this.server.unref();
  }

  /** Undefined where it is turned off, or its port is taken. */
  get url(): string | undefined {
    const address = this.server?.address() as AddressInfo | null | undefined;
    return address ? `http://${address.address}:${address.port}/metrics` : undefined;
  }

  onApplicationShutdown(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('x-content-type-options', 'nosniff');
    if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404).end();
      return;
    }
    try {
      const { contentType, body } = await this.metrics.expose();
      response.writeHead(200, { 'content-type': contentType }).end(body);
    } catch (err) {
      this.logger.error({ err }, 'Metrics could not be told');
      response.writeHead(500).end();
    }
  }
}
