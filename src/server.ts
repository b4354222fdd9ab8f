import { once } from 'node:events';
import { type Server as HttpServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule, type AppOptions, type Extension } from './app.module.js';
import type { Clock } from './config/clock.js';
import { type Config, loadConfig } from './config/config.js';
import { isEmbedded } from './database/data-source-options.js';
import { isSchemaBehind, migrate } from './database/migrate.js';
import { Readiness } from './health/readiness.js';
import { PetStoreAdapter } from './http/adapter.js';
import { notFound } from './http/api-error.js';
import { ErrorFilter } from './http/error.filter.js';
import { PublicAddress } from './http/public-address.js';
import { RouteTable } from './http/route-table.js';
import { type Application, createTransport, judgeAndRefuse } from './http/transport.js';
import { Gatekeeper } from './keys/gatekeeper.js';
import { DocumentSource } from './openapi/document-source.js';
import type { CounterChannel } from './rate-limits/counter-channel.js';
import { accessLog } from './telemetry/access-log.js';
import { createLogger, type Logger, NestLogger } from './telemetry/logger.js';
import { Metrics } from './telemetry/metrics.js';

/** Of the grace period, what is left for saving counters and closing the database. */
const CLOSING_SHARE = 0.15;
/** Idle connections are closed once a client had the time to hear of it with its next request. */
const IDLE_PATIENCE_MS = 500;
const DRAIN_CHECK_MS = 50;

/** Everything else, a guest's operations included, is below `/v1`. */
const OUTSIDE_THE_API = [
  { path: '/', method: RequestMethod.GET },
  'docs',
  'docs/*path',
  'openapi.json',
  'openapi.yaml',
  'health/*path',
];

export interface StartOptions {
  config?: Config;
  logger?: Logger;
  clock?: Clock;
  /** Of a worker: the way to the process that counts for it. */
  primary?: CounterChannel | undefined;
  extensions?: readonly Extension[];
  /** Migrate at start on PostgreSQL too. */
  migrate?: boolean;
}

/** The operator has to bring the schema up to date first. */
export class SchemaBehindError extends Error {
  constructor() {
    super('The database schema is behind this version: run "petstore migrate" first');
  }
}

/** A running service. */
export class PetStore {
  private closing: Promise<void> | undefined;

  constructor(
    readonly app: NestFastifyApplication,
    private readonly config: Config,
    private readonly logger: Logger,
  ) {}

  /** Where it listens: `http://HOST:PORT`. */
  get origin(): string {
    const { address, port, family } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /**
   * Stops: readiness turns 503, no new connections, every accepted request is answered, counters are
   * saved. What is not done when the grace period ends is cut off.
   */
  close(): Promise<void> {
    this.closing ??= this.drainAndClose();
    return this.closing;
  }

  private async drainAndClose(): Promise<void> {
    this.logger.info({}, 'Draining: no new connections, requests under way are answered');
    this.app.get(Readiness).drain();
    const grace = this.config.shutdownGraceSeconds * 1000;
    await this.drainConnections(performance.now() + grace * (1 - CLOSING_SHARE));
    await this.app.close();
    this.logger.info({}, 'Stopped');
    this.logger.flush();
  }

  private async drainConnections(deadline: number): Promise<void> {
    const { server } = this;
    // Only the listening socket: http.Server.close() would cut idle connections at once, and with them
    // the request that a client is just sending on one.
    const closed = once(server, 'close');
    NetServer.prototype.close.call(server);
    const idleFrom = Math.min(performance.now() + IDLE_PATIENCE_MS, deadline);
    const timer = setInterval(() => {
      const now = performance.now();
      if (now >= deadline) server.closeAllConnections();
      else if (now >= idleFrom) server.closeIdleConnections();
    }, DRAIN_CHECK_MS);
    await closed;
    clearInterval(timer);
  }

  private get server(): HttpServer {
    return this.app.getHttpServer();
  }
}

/** Assembles the application; it does not listen yet. */
export async function createApp(options: AppOptions): Promise<NestFastifyApplication> {
  const { config, logger } = options;
  const routes = new RouteTable();
  const application: Application = {
    judge: (request, reply) => app.get(Gatekeeper).judge(request, reply),
    sendError: (error, request, reply) => {
      const filter = app.get(ErrorFilter);
      filter.send(filter.toApiError(error), request, reply);
    },
    answered: () => undefined,
    isDraining: () => false,
  };
  const transport = createTransport(config, routes, application);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...options, routes }),
    new PetStoreAdapter(transport, (request, reply) =>
      judgeAndRefuse(application, notFound(), request, reply),
    ),
    { bodyParser: false, abortOnError: false, logger: new NestLogger(logger) },
  );
  app.setGlobalPrefix('v1', { exclude: OUTSIDE_THE_API });
  const readiness = app.get(Readiness);
  app.get(DocumentSource).describes(app);
  application.isDraining = () => readiness.isDraining;
  application.answered = accessLog(logger, app.get(Metrics));
  return app;
}

/** Starts the service and listens. */
export async function startPetStore(options: StartOptions = {}): Promise<PetStore> {
  const config = options.config ?? loadConfig();
  const logger = options.logger ?? (await createLogger(config));
  const app = await createApp({ ...options, config, logger });
  try {
    const dataSource = app.get(DataSource);
    if (isEmbedded(config.databaseUrl) || options.migrate) await migrate(dataSource);
    else if (await isSchemaBehind(dataSource)) throw new SchemaBehindError();
    await app.listen(config.port, config.host);
  } catch (error) {
    await app.close().catch(() => undefined);
    throw error;
  }
  const store = new PetStore(app, config, logger);
  app.get(PublicAddress).listensOn((app.getHttpServer().address() as AddressInfo).port);
  logger.info({ origin: store.origin }, 'Listening');
  return store;
}
