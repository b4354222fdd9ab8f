import { loadConfig } from '../config/config.js';
import { claimDatabase } from '../database/data-source-options.js';
import { settingsOf } from '../extensions/settings.js';
import { createLogger } from '../telemetry/logger.js';
import { Primary } from '../workers/primary.js';
import { configured } from './config-file.js';
import { firstKey, offerAnimals } from './first-start.js';
import { introduce } from './introduction.js';
import { asOperator } from './operator.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, stopSignal } from './serving.js';

/** The process that starts and looks after the others. */
export async function serveWithWorkers(options: ServeOptions, output: Output): Promise<void> {
  const { extensions = [] } = await configured();
  const config = loadConfig(undefined, settingsOf(extensions));
  const logger = await createLogger(config, options.json ? 2 : 1, 0);
  const stop = stopSignal();
  endOnUnknownState(logger);
  const claim = claimDatabase(config.databaseUrl);
  const primary = new Primary(config, logger, options.workers);
  const start = async (): Promise<void> => {
    const { migrate = false, demo } = options;
    await asOperator(
      async (app) => {
        const animals = demo ? await offerAnimals(app, config) : 0;
        const { origin, baseUrl, docsUrl } = await primary.start();
        const { metricsUrl } = primary;
        const key = await firstKey(app, config);
        introduce({ origin, baseUrl, docsUrl, metricsUrl, key, animals }, config, options, output);
      },
      { migrate, mayCreate: true, logger },
    );
  };
  try {
    await Promise.race([start(), stop]);
    await stop;
  } finally {
    await primary.stop();
    claim?.release();
  }
}
