import { DataSource } from 'typeorm';
import { loadConfig } from '../config/config.js';
import { migrate } from '../database/migrate.js';
import { createLogger } from '../telemetry/logger.js';
import { Primary } from '../workers/primary.js';
import { asOperator } from './operator.js';
import { type Output, UsageError } from './output.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, firstKey, introduce, stopSignal } from './serving.js';

/** The process that starts and looks after the others. */
export async function serveWithWorkers(options: ServeOptions, output: Output): Promise<void> {
  const config = loadConfig();
  if (config.databaseUrl === 'sqlite::memory:') {
    throw new UsageError('--workers needs a database that processes can share, not one in memory');
  }
  const logger = await createLogger(config, options.json ? 2 : 1, 0);
  const stop = stopSignal();
  endOnUnknownState(logger);
  const key = await asOperator(
    async (app) => {
      if (options.migrate) await migrate(app.get(DataSource));
      return firstKey(app, config);
    },
    { anySchema: options.migrate ?? false },
  );
  const primary = new Primary(config, logger, options.workers);
  try {
    const { origin, baseUrl, docsUrl } = await primary.start();
    introduce({ origin, baseUrl, docsUrl, key }, options, output);
    await stop;
  } finally {
    await primary.stop();
  }
}
