import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { OperatorModule } from '../app.module.js';
import { loadConfig } from '../config/config.js';
import { isEmbedded } from '../database/data-source-options.js';
import { isSchemaBehind, migrate } from '../database/migrate.js';
import { SchemaBehindError } from '../server.js';
import { createLogger, NestLogger } from '../telemetry/logger.js';

/**
 * Runs `work` on the modules of the server, without the server. The schema of the embedded default is
 * brought up to date first; another one has to be already.
 */
export async function asOperator<T>(
  work: (app: INestApplicationContext) => Promise<T>,
  options: { anySchema?: boolean } = {},
): Promise<T> {
  const config = { ...loadConfig(), metricsPort: 0 };
  const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
  const app = await NestFactory.createApplicationContext(
    OperatorModule.forRoot({ config, logger }),
    { logger: new NestLogger(logger), abortOnError: false },
  );
  try {
    const dataSource = app.get(DataSource);
    if (!options.anySchema) {
      if (isEmbedded(config.databaseUrl)) await migrate(dataSource);
      else if (await isSchemaBehind(dataSource)) throw new SchemaBehindError();
    }
    return await work(app);
  } finally {
    await app.close();
  }
}
