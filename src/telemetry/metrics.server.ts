import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Config } from '../config/config.js';
import { Logger } from './logger.js';
import { Metrics } from './metrics.js';

/** To what Node could not read. Any other is a 400. */
const UNREADABLE: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

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
    this.metrics.collectProcessMetrics();
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void this.answer(request, response);
    // Node's own refusals would lack the header that every answer has.
    this.server = createServer({ requireHostHeader: false }, answer);
    this.server.on('checkExpectation', answer);
    this.server.on('clientError', refuseUnreadable);
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
    const refusal = refusalOf(request);
    if (refusal !== undefined) {
      response.writeHead(refusal, refusal === 405 ? { allow: 'GET, HEAD' } : {}).end();
      return;
    }
    try {
      const { contentType, body } = await this.metrics.expose();
      const headers = { 'content-type': contentType, 'content-length': Buffer.byteLength(body) };
      response.writeHead(200, headers).end(body);
    } catch (err) {
      this.logger.error({ err }, 'Metrics could not be told');
      response.writeHead(500).end();
    }
  }
}

function refusalOf({
  httpVersion,
  headers,
  method,
  url = '',
}: IncomingMessage): number | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return 400;
  // Prometheus sends the `params` of a job as a query.
  if (url.split('?')[0] !== '/metrics') return 404;
  return method === 'GET' || method === 'HEAD' ? undefined : 405;
}

function refuseUnreadable({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const status = UNREADABLE[code] ?? 400;
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Content-Type-Options: nosniff\r\n` +
      'Content-Length: 0\r\nConnection: close\r\n\r\n',
    () => socket.destroy(),
  );
}
