import type { AddressInfo } from 'node:net';
import { type DynamicModule, Logger, type NestApplicationOptions } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DataSource } from 'typeorm';
import { AppModule } from './app.module.js';
import { withBuiltIn } from './built-in.js';
import type { CoreOptions } from './core.module.js';
import { loadConfig } from './core/config/config.js';
import { explained } from './core/config/fixes.js';
import { fileOf } from './core/database/data-source-options.js';
import { migrate } from './core/database/migrate.js';
import { lockFile } from './core/database/sqlite/sqlite.file.js';
import { checkApplication } from './extensions/check-application.js';
import { checkExtensions, type CheckOptions } from './extensions/check.js';
import { settingsOf } from './extensions/settings.js';
import { FastifyAdapter } from './core/http/fastify.adapter.js';
import { corsOptions } from './core/http/cors.js';
import { Operations } from './core/http/operations.js';
import { PublicAddress } from './core/config/public-address.js';
import { warnOfProxy } from './core/http/client-address.js';
import { Transport } from './core/http/transport.js';
import { DocumentSource } from './docs/document.js';
import { publicDocument } from './docs/public-document.js';
import { PetStore } from './pet-store.js';
import { createLogger } from './core/telemetry/logger.js';
import { NestLogger } from './core/telemetry/nest-logger.js';

/**
 * Same default as `net.core.somaxconn`; Node's is 511. On overflow, clients retry their SYN after 1
 * s, then 3 s.
 */
const LISTEN_BACKLOG = 4_096;

type CreateNest = (
  module: DynamicModule,
  adapter: FastifyAdapter,
  options: NestApplicationOptions & { logger: NestLogger },
) => Promise<NestFastifyApplication>;

/** By default, the configuration is read from the environment, and decides how lines are logged. */
export interface StartOptions extends CheckOptions, Partial<CoreOptions> {
  /** Migrate at start on PostgreSQL too. */
  migrate?: boolean;
  /** Runs once the schema exists, before the server listens. */
  prepare?: (app: NestFastifyApplication) => Promise<void>;
  /** Replaces `NestFactory.create()`, for the test kit. */
  createNest?: CreateNest | undefined;
}

/**
 * Assembles the application; it does not listen yet.
 * @param options with all extensions, the built-in ones too
 */
export async function createApp(
  options: StartOptions & CoreOptions,
): Promise<NestFastifyApplication> {
  const { config, logger } = options;
  const { createNest = NestFactory.create.bind(NestFactory) as CreateNest } = options;
  const { extensions = [] } = options;
  for (const warning of checkExtensions(extensions, options)) logger.warn({}, warning);
  const nestLogger = new NestLogger(logger);
  // Modules may log when they are declared, before Nest has its logger.
  Logger.overrideLogger(nestLogger);
  const transport = new Transport(config);
  if (config.trustProxy === false) warnOfProxy(transport.server.server, logger);
  const app = await createNest(
    AppModule.forRoot(transport, options),
    new FastifyAdapter(transport),
    { bodyParser: false, abortOnError: false, logger: nestLogger },
  );
  try {
    checkApplication(app, extensions);
  } catch (error) {
    await app.close();
    throw error;
  }
  app.setGlobalPrefix('v1', { exclude: app.get(Operations).publicPaths });
  if (config.corsOrigins.length > 0) {
    const requestHeaders = extensions.flatMap((each) => each.requestHeaders ?? []);
    app.enableCors(corsOptions(config.corsOrigins, transport.routes, requestHeaders));
  }
  app.get(DocumentSource).describes(app, publicDocument(app, extensions));
  return app;
}

/** Starts the service and listens. */
export async function startPetStore(options: StartOptions = {}): Promise<PetStore> {
  const extensions = withBuiltIn(options.extensions ?? []);
  const config = options.config ?? loadConfig(undefined, settingsOf(extensions));
  const logger = options.logger ?? (await createLogger(config));
  const { port, host, adminPort, adminHost, tracing } = config;
  // OpenTelemetry is loaded on demand.
  const stopTracing =
    tracing && (await import('./core/telemetry/traces.js')).startTracing(tracing, logger);
  const file = fileOf(config.databaseUrl);
  // PostgreSQL may have several servers.
  const unlock = file && (await explained('sqlite', file, () => lockFile(file)));
  const cleanUp = async () => {
    if (unlock) unlock();
    await stopTracing?.();
  };
  const apps: NestFastifyApplication[] = [];
  try {
    const app = await createApp({ ...options, extensions, config, logger });
    apps.push(app);
    await migrate(app.get(DataSource), options.migrate ?? false);
    await options.prepare?.(app);
    // Before the service listens: a hook of an extension may listen on another port.
    await app.init();
    if (adminPort !== 0) {
      const { createAdminApp } = await import('./admin/admin.app.js');
      const admin = await createAdminApp(app);
      apps.push(admin);
      await explained('port', 'ADMIN_', () => admin.listen({ port: adminPort, host: adminHost }));
    }
    await explained('port', '', () => app.listen({ port, host, backlog: LISTEN_BACKLOG }));
    app.get(PublicAddress).listensOn((app.getHttpServer().address() as AddressInfo).port);
  } catch (error) {
    await Promise.allSettled(apps.map((each) => each.close()));
    await cleanUp();
    throw error;
  }
  const store = new PetStore(apps, cleanUp);
  logger.info({ origin: store.origin }, 'Listening');
  return store;
}
