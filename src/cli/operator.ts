import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { loadConfig } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { ensureSchema, type Tell } from '../database/migrate.js';
import { SqliteFile } from '../database/sqlite/sqlite.file.js';
import { checkExtensions } from '../extensions/check.js';
import { createLogger, type Logger } from '../telemetry/logger.js';
import { NestLogger } from '../telemetry/nest-logger.js';
import { atMost } from '../time/within.js';
import { configured } from './config-file.js';
import { OperatorModule } from './operator.module.js';

/** A database that does not answer does not take leave either. */
const CLOSING_PATIENCE_MS = 2_000;

/** Whoever types the path of a database wrongly is not to be given an empty one. */
export function assertThere(path: string | undefined): void {
  if (path === undefined || new SqliteFile(path).isThere()) return;
  throw new Error(
    `There is no database at ${path}: serve, migrate and seed make one; see DATABASE_URL`,
  );
}

/**
 * Runs `work` on the modules of the server, without the server. The schema of the embedded default is
 * brought up to date first, as another one is with `migrate`; else that has to be so already. Only a server
 * has a log: `tell` is told what that waits for otherwise.
 */
export async function asOperator<T>(
  work: (app: INestApplicationContext, migrations: readonly string[]) => T | Promise<T>,
  options: { migrate?: boolean; mayCreate?: boolean; logger?: Logger; tell?: Tell } = {},
): Promise<T> {
  const known = await configured();
  checkExtensions(known.extensions, known);
  const config = { ...loadConfig(), metricsPort: 0 };
  if (!options.mayCreate) assertThere(fileOf(config.databaseUrl));
  const silent = await createLogger({ logLevel: 'silent', logFormat: 'json' });
  const { logger = silent, migrate = false, tell = (what) => logger.warn({}, what) } = options;
  const app = await NestFactory.createApplicationContext(
    OperatorModule.forRoot({ config, logger, ...known }),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  try {
    const migrations = await ensureSchema(app.get(DataSource), migrate, tell);
    return await work(app, migrations);
  } finally {
    await atMost(CLOSING_PATIENCE_MS, app.close());
  }
}
