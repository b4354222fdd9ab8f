import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule, type AppOptions, OUR_MODULES } from './app.module.js';
import { type Config, loadConfig } from './config/config.js';
import { lockDatabase } from './database/data-source-options.js';
import type { DatabaseLock } from './database/sqlite/database-lock.js';
import { ensureSchema } from './database/migrate.js';
import { checkOperations } from './extensions/check-operations.js';
import { checkExtensions, type CheckOptions } from './extensions/check.js';
import type { Extension } from './extensions/define.js';
import { followGuests } from './extensions/guest-routes.js';
import { assertSettingsRead, settingsOf } from './extensions/settings.js';
import { rejectContentTypeParsers, rejectUnsupported } from './extensions/unsupported.js';
import { Readiness } from './health/readiness.js';
import { PetStoreAdapter } from './http/answers.js';
import { ClientAddress } from './http/client-address.js';
import { allAccepted, closeAllConnections, isSending } from './http/connections.js';
import { ErrorFilter } from './http/error.filter.js';
import { judgeFirst } from './http/judged-first.js';
import { operationsOf } from './http/operations.js';
import { answerOurFailures } from './http/ours-first.filter.js';
import { PublicAddress } from './http/public-address.js';
import { publicPaths } from './http/public-paths.js';
import { admitsUnguarded, refuseUnrouted, unserved } from './http/refusals.js';
import { OperationIds } from './http/request-context.js';
import { RouteTable } from './http/route-table.js';
import { type Application, createTransport } from './http/transport.js';
import { Gatekeeper } from './keys/gatekeeper.js';
import { DocumentSource } from './openapi/document-source.js';
import { PageLimitGuard } from './openapi/page-limit.guard.js';
import { createLogger, type Logger } from './telemetry/logger.js';
import { NestLogger } from './telemetry/nest-logger.js';
import { AdmissionQueue } from './http/admission-queue.js';
import type { Clock } from './time/clock.js';
import { atMost } from './time/within.js';

/** Idle connections are closed once a client had the time to hear of it with its next request. */
const IDLE_PATIENCE_MS = 500;
const DRAIN_CHECK_MS = 50;
/** Reserved for the last log lines and the exit of the process itself. */
const EXIT_MS = 400;
/** Share of the grace period that is left for saving the counters and closing the database. */
const CLOSING_SHARE = 0.15;
/** For those who wait to be accepted, where others come without end; of a short grace period, no more than a share. */
const LAST_ACCEPTED_MS = 1_000;
const ACCEPTING_SHARE = 0.5;

export interface StartOptions extends CheckOptions {
  config?: Config;
  logger?: Logger;
  clock?: Clock;
  extensions?: readonly Extension[];
  /** Migrate at start on PostgreSQL too. */
  migrate?: boolean;
  /** Run once the schema is there, before anybody is served. */
  prepare?: (app: NestFastifyApplication) => Promise<void>;
}

/**
 * Of those that connect at once. Who finds no place comes again after a second, and then after three. The system's own
 * bound (`net.core.somaxconn`) has the same default; that of Node is 511.
 */
const MOST_WAITING_TO_BE_ACCEPTED = 4_096;

/** A running service. */
export class PetStore {
  private closing: Promise<void> | undefined;

  constructor(
    readonly app: NestFastifyApplication,
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

  /**
   * Stops: readiness turns 503, no new connections but those that wait to be accepted, every accepted request is
   * answered, counters are saved. What is not done when the grace period ends is cut off.
   */
  close(): Promise<void> {
    this.closing ??= this.drainAndClose();
    return this.closing;
  }

  private async drainAndClose(): Promise<void> {
    this.logger.info({}, 'Draining: no new connections, requests under way are answered');
    this.app.get(Readiness).drain();
    const graceMs = this.config.shutdownGraceSeconds * 1_000 - EXIT_MS;
    const deadline = performance.now() + graceMs;
    await this.drainConnections(deadline - graceMs * CLOSING_SHARE);
    // An unreachable database cannot hold up the exit.
    await atMost(deadline - performance.now(), this.app.close());
    this.lock?.release();
    await this.stopTracing?.();
    this.logger.info({}, 'Stopped');
    this.logger.flush();
  }

  private async drainConnections(deadline: number): Promise<void> {
    const { server } = this;
    const closed = once(server, 'close');
    await this.stopListening(deadline);
    const idleFrom = Math.min(performance.now() + IDLE_PATIENCE_MS, deadline);
    const timer = setInterval(() => {
      const now = performance.now();
      if (now >= deadline) closeAllConnections(server);
      else if (now >= idleFrom && !isSending(server)) server.closeIdleConnections();
    }, DRAIN_CHECK_MS);
    await closed;
    clearInterval(timer);
  }

  /** Once nobody waits to be accepted. Until then nothing begins: turns are short, and nobody answered connects anew. */
  private async stopListening(deadline: number): Promise<void> {
    const { server } = this;
    const patienceMs = (deadline - performance.now()) * ACCEPTING_SHARE;
    const line = this.app.get(AdmissionQueue);
    line.hold();
    try {
      await atMost(Math.min(LAST_ACCEPTED_MS, patienceMs), allAccepted(server, turn));
      // Only the listening socket: http.Server.close() would cut idle connections at once, and with them
      // the request that a client is just sending on one.
      NetServer.prototype.close.call(server);
    } finally {
      line.release();
    }
  }

  private get server(): HttpServer {
    return this.app.getHttpServer();
  }
}

/** Assembles the application; it does not listen yet. */
export async function createApp(
  options: Omit<AppOptions, 'routes' | 'line'>,
): Promise<NestFastifyApplication> {
  const { config, logger, extensions = [] } = options;
  for (const warning of checkExtensions(extensions, options)) logger.warn({}, warning);
  assertSettingsRead(extensions, config.settings);
  const routes = new RouteTable();
  const line = new AdmissionQueue();
  const application: Application = {
    judge: (request, reply) => app.get(Gatekeeper).judge(request, reply),
    admit: (request) => app.get(PageLimitGuard).admitUnrouted(request),
    sendError: (error, request, reply) => {
      const filter = app.get(ErrorFilter);
      filter.send(filter.toApiError(error), request, reply);
    },
    answered: [],
    answeredUnread: () => undefined,
    readiness: { isDraining: false },
  };
  const requestHeaders = extensions.flatMap((each) => each.requestHeaders ?? []);
  const transport = createTransport(config, routes, application, line, requestHeaders);
  rejectContentTypeParsers(transport);
  const address = (): PublicAddress => app.get(PublicAddress);
  const app = await NestFactory.create<NestFastifyApplication>(
    AppModule.forRoot({ ...options, routes, line }),
    new PetStoreAdapter(
      transport,
      {
        answerUnrouted: (request, reply) =>
          refuseUnrouted(application, unserved(request, routes), request, reply),
        admitsUnguarded: (request, reply) => admitsUnguarded(application, request, reply),
      },
      address,
    ),
    { bodyParser: false, abortOnError: false, logger: new NestLogger(logger) },
  );
  try {
    rejectUnsupported(app);
    checkOperations(app);
  } catch (error) {
    await app.close();
    throw error;
  }
  const operations = operationsOf(app);
  app.get(OperationIds).assign(operations, OUR_MODULES);
  judgeFirst(app, transport, OUR_MODULES, application);
  followGuests(operations, transport, OUR_MODULES);
  answerOurFailures(app, transport, OUR_MODULES);
  app.setGlobalPrefix('v1', { exclude: publicPaths(app) });
  app.get(DocumentSource).describes(app, OUR_MODULES);
  application.readiness = app.get(Readiness);
  application.answeredUnread = ({ code, status }, id, socket) => {
    const address = ClientAddress.of(socket);
    logger.debug({ requestId: id, status, code, address }, 'Malformed request');
  };
  return app;
}

/** Starts the service and listens. */
export async function startPetStore(options: StartOptions = {}): Promise<PetStore> {
  const config = options.config ?? loadConfig(undefined, settingsOf(options.extensions ?? []));
  const logger = options.logger ?? (await createLogger(config));
  for (const warning of config.warnings) logger.warn({}, warning);
  const lock = lockDatabase(config.databaseUrl);
  const stopTracing = await tracing(config, logger);
  const app = await createApp({ ...options, config, logger }).catch((error: unknown) => {
    lock?.release();
    throw error;
  });
  try {
    await ensureSchema(app.get(DataSource), options.migrate ?? false, (what) =>
      logger.warn({}, what),
    );
    await options.prepare?.(app);
    const { port, host } = config;
    const listens = app.listen({ port, host, backlog: MOST_WAITING_TO_BE_ACCEPTED });
    await listens.catch((error: NodeJS.ErrnoException) => {
      // By its code alone it would be taken for the host of the database.
      if (error.syscall !== 'getaddrinfo') throw error;
      throw new Error(`${error.message}: set HOST to an address of this machine`, { cause: error });
    });
  } catch (error) {
    await app.close().catch(() => undefined);
    lock?.release();
    throw error;
  }
  const store = new PetStore(app, config, logger, lock, stopTracing);
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
