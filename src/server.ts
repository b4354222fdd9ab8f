import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule, type AppOptions, CORE_MODULE_CLASSES } from './app.module.js';
import { type Config, loadConfig } from './config/config.js';
import { lockDatabase } from './database/data-source-options.js';
import type { DatabaseLock } from './database/sqlite/database-lock.js';
import { ensureSchema } from './database/migrate.js';
import { checkApplication, rejectContentTypeParsers } from './extensions/check-application.js';
import { checkExtensions, type CheckOptions } from './extensions/check.js';
import type { Extension } from './extensions/define.js';
import { trackExtensionRequests } from './extensions/extension-requests.js';
import { settingsOf } from './extensions/settings.js';
import { Readiness } from './health/readiness.js';
import type { ClientConnections } from './http/client-connections.js';
import { FastifyAdapter } from './http/fastify.adapter.js';
import { OperationIds } from './http/operation-ids.js';
import { operationsOf } from './http/operations.js';
import { PublicAddress } from './http/public-address.js';
import { publicPaths } from './http/public-paths.js';
import { Transport } from './http/transport.js';
import { DocumentSource } from './openapi/document-source.js';
import { createLogger, type Logger } from './telemetry/logger.js';
import { NestLogger } from './telemetry/nest-logger.js';
import type { Clock } from './time/clock.js';
import { waitAtMost } from './time/timeout.js';

/** Reserved for the last log lines and the exit of the process itself. */
const EXIT_MS = 400;
/** Share of the grace period that is left for saving the counters and closing the database. */
const CLOSING_SHARE = 0.15;
/** Same default as `net.core.somaxconn`; Node's is 511. On overflow, clients retry their SYN after 1 s, then 3 s. */
const LISTEN_BACKLOG = 4_096;

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

  constructor(
    readonly app: NestFastifyApplication,
    private readonly connections: ClientConnections,
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly lock?: DatabaseLock,
    private readonly stopTracing?: () => Promise<void>,
  ) {}

  /** Where it listens: `http://HOST:PORT`. */
  get origin(): string {
    const { address, port, family } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  }

  /** Answers every accepted request, saves the counters and ends within the grace period. */
  close(): Promise<void> {
    this.closing ??= this.drainAndClose();
    return this.closing;
  }

  private async drainAndClose(): Promise<void> {
    this.logger.info({}, 'Draining: answering requests in progress, closing connections');
    this.app.get(Readiness).drain();
    const graceMs = this.config.shutdownGraceSeconds * 1_000 - EXIT_MS;
    const deadline = performance.now() + graceMs;
    await this.connections.drain(this.server, deadline - graceMs * CLOSING_SHARE);
    // An unreachable database cannot hold up the exit.
    await waitAtMost(deadline - performance.now(), this.app.close());
    this.lock?.release();
    await this.stopTracing?.();
    this.logger.info({}, 'Stopped');
    this.logger.flush();
  }

  private get server(): HttpServer {
    return this.app.getHttpServer();
  }
}

/** Assembles the application; it does not listen yet. */
export async function createApp(
  options: Omit<AppOptions, 'transport' | 'address'>,
): Promise<NestFastifyApplication> {
  return (await assemble(options)).app;
}

async function assemble(options: Omit<AppOptions, 'transport' | 'address'>) {
  const { config, logger, extensions = [] } = options;
  for (const warning of checkExtensions(extensions, options)) logger.warn({}, warning);
  const requestHeaders = extensions.flatMap((each) => each.requestHeaders ?? []);
  const transport = new Transport(config, logger, requestHeaders);
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
  const operations = operationsOf(app);
  app.get(OperationIds).assign(operations, CORE_MODULE_CLASSES);
  trackExtensionRequests(operations, transport.server, CORE_MODULE_CLASSES);
  app.setGlobalPrefix('v1', { exclude: publicPaths(app) });
  app.get(DocumentSource).describes(app, CORE_MODULE_CLASSES);
  return { app, transport };
}

/** Starts the service and listens. */
export async function startPetStore(options: StartOptions = {}): Promise<PetStore> {
  const config = options.config ?? loadConfig(undefined, settingsOf(options.extensions ?? []));
  const logger = options.logger ?? (await createLogger(config));
  for (const warning of config.warnings) logger.warn({}, warning);
  const lock = lockDatabase(config.databaseUrl);
  const stopTracing = await tracing(config, logger);
  const assembled = await assemble({ ...options, config, logger }).catch((error: unknown) => {
    lock?.release();
    throw error;
  });
  const { app, transport } = assembled;
  try {
    await ensureSchema(app.get(DataSource), options.migrate ?? false, (what) =>
      logger.warn({}, what),
    );
    await options.prepare?.(app);
    const { port, host } = config;
    const listens = app.listen({ port, host, backlog: LISTEN_BACKLOG });
    await listens.catch((error: NodeJS.ErrnoException) => {
      // Its code alone would look like an unknown database host.
      if (error.syscall !== 'getaddrinfo') throw error;
      throw new Error(`${error.message}: set HOST to an address of this machine`, { cause: error });
    });
  } catch (error) {
    await app.close().catch(() => undefined);
    lock?.release();
    throw error;
  }
  const store = new PetStore(app, transport.connections, config, logger, lock, stopTracing);
  app.get(PublicAddress).listensOn((app.getHttpServer().address() as AddressInfo).port);
  logger.info({ origin: store.origin }, 'Listening');
  return store;
}

/** Loads OpenTelemetry on demand. */
async function tracing(
  { tracing }: Config,
  logger: Logger,
): Promise<(() => Promise<void>) | undefined> {
  if (tracing === undefined) return undefined;
  const { startTracing } = await import('./telemetry/traces.js');
  return startTracing(tracing, logger);
}
