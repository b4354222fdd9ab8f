import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule, type AppOptions } from './app.module.js';
import { Config, loadConfig } from './config/config.js';
import { fileOf } from './database/data-source-options.js';
import { migrate } from './database/migrate.js';
import { lockFile } from './database/sqlite/sqlite.file.js';
import { checkApplication, rejectContentTypeParsers } from './extensions/check-application.js';
import { checkExtensions, type CheckOptions } from './extensions/check.js';
import type { Extension } from './extensions/define.js';
import { trackExtensionRequests } from './extensions/extension-requests.js';
import { settingsOf } from './extensions/settings.js';
import { Readiness } from './health/readiness.js';
import { ClientConnections } from './http/client-connections.js';
import { FastifyAdapter } from './http/fastify.adapter.js';
import { corsOptions } from './http/cors.js';
import { Operations } from './http/operations.js';
import { PublicAddress } from './config/public-address.js';
import { Transport } from './http/transport.js';
import { DocumentSource } from './openapi/document.js';
import { createLogger, Logger } from './telemetry/logger.js';
import { NestLogger } from './telemetry/nest-logger.js';
import type { Clock } from './time/clock.js';
import { waitAtMost } from './time/timeout.js';

/** Same default as `net.core.somaxconn`; Node's is 511. On overflow, clients retry their SYN after 1 s, then 3 s. */
const LISTEN_BACKLOG = 4_096;
/** Reserved for the last log lines and the exit of the process itself. */
const EXIT_MS = 400;
/** Share of the grace period that is left for saving the counters and closing the database. */
const CLOSING_SHARE = 0.15;

type CreateOptions = Omit<AppOptions, 'transport' | 'address'> & CheckOptions;

export interface StartOptions extends CheckOptions {
  config?: Config;
  logger?: Logger;
  clock?: Clock;
  extensions?: readonly Extension[];
  /** Migrate at start on PostgreSQL too. */
  migrate?: boolean;
  /** Runs once the schema exists, before the server listens. */
  prepare?: (app: NestFastifyApplication) => Promise<void>;
}

/** A running service. */
export class PetStore {
  private closing: Promise<void> | undefined;

  /** @param cleanUp runs once the application is closed */
  constructor(
    readonly app: NestFastifyApplication,
    private readonly cleanUp: () => Promise<void>,
  ) {}

  /** The address on which the server listens: `http://HOST:PORT`. */
  get origin(): string {
    const { address, port, family } = this.app.getHttpServer().address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Answers every accepted request, saves the counters and ends within the grace period. */
  close(): Promise<void> {
    this.closing ??= this.drainAndClose();
    return this.closing;
  }

  private async drainAndClose(): Promise<void> {
    const { app } = this;
    const logger = app.get(Logger);
    logger.info({}, 'Draining: answering requests in progress, closing connections');
    app.get(Readiness).isDraining = true;
    const graceMs = app.get(Config).shutdownGraceSeconds * 1_000 - EXIT_MS;
    const deadline = performance.now() + graceMs;
    const drained = deadline - graceMs * CLOSING_SHARE;
    await app.get(ClientConnections).drain(app.getHttpServer(), drained);
    // An unreachable database cannot hold up the exit.
    await waitAtMost(deadline - performance.now(), app.close());
    await this.cleanUp();
    logger.info({}, 'Stopped');
    logger.flush();
  }
}

/** Assembles the application; it does not listen yet. */
export async function createApp(options: CreateOptions): Promise<NestFastifyApplication> {
  const { config, logger, extensions = [] } = options;
  for (const warning of checkExtensions(extensions, options)) logger.warn({}, warning);
  const transport = new Transport(config, logger);
  const address = new PublicAddress(config);
  rejectContentTypeParsers(transport.server);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...options, transport, address }),
    new FastifyAdapter(transport, address),
    { bodyParser: false, abortOnError: false, logger: new NestLogger(logger) },
  );
  try {
    checkApplication(app);
  } catch (error) {
    await app.close();
    throw error;
  }
  const operations = app.get(Operations);
  trackExtensionRequests(operations, transport.server);
  app.setGlobalPrefix('v1', { exclude: operations.publicPaths });
  if (config.corsOrigins.length > 0) {
    const requestHeaders = extensions.flatMap((each) => each.requestHeaders ?? []);
    app.enableCors(corsOptions(config.corsOrigins, transport.routes, requestHeaders));
  }
  app.get(DocumentSource).describes(app);
  return app;
}

/** Starts the service and listens. */
export async function startPetStore(options: StartOptions = {}): Promise<PetStore> {
  const config = options.config ?? loadConfig(undefined, settingsOf(options.extensions ?? []));
  const logger = options.logger ?? (await createLogger(config));
  for (const warning of config.warnings) logger.warn({}, warning);
  const file = fileOf(config.databaseUrl);
  // PostgreSQL may have several servers.
  const unlock = file === undefined ? undefined : lockFile(file);
  // OpenTelemetry is loaded on demand.
  const tracing = config.tracing && (await import('./telemetry/traces.js'));
  const stopTracing = await tracing?.startTracing(config.tracing!, logger);
  let app: NestFastifyApplication | undefined;
  try {
    app = await createApp({ ...options, config, logger });
    await migrate(app.get(DataSource), options.migrate ?? false);
    await options.prepare?.(app);
    await app.listen({ port: config.port, host: config.host, backlog: LISTEN_BACKLOG });
    app.get(PublicAddress).listensOn((app.getHttpServer().address() as AddressInfo).port);
  } catch (error) {
    await app?.close().catch(() => undefined);
    unlock?.();
    throw error;
  }
  const store = new PetStore(app, async () => {
    unlock?.();
    await stopTracing?.();
  });
  logger.info({ origin: store.origin }, 'Listening');
  return store;
}
