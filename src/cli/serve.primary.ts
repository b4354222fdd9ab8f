import { loadConfig } from '../config/config.js';
import { claimDatabase } from '../database/data-source-options.js';
import { settingsOf } from '../extensions/settings.js';
import { createLogger } from '../telemetry/logger.js';
import { MetricsServer } from '../telemetry/metrics.server.js';
import { Primary, StartFailed } from '../workers/primary.js';
import { collectOnceIdle } from './collect-once-idle.js';
import { configured } from './config-file.js';
import { UnwellError } from './doctor.command.js';
import { firstKey, offerAnimals } from './first-start.js';
import { introduce } from './introduction.js';
import { asOperator } from './operator.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState } from './serving.js';

/** The process that starts and looks after the others. */
export async function serveWithWorkers(
  options: ServeOptions,
  output: Output,
  stop: Promise<void>,
): Promise<void> {
  const { extensions } = await configured();
  const config = loadConfig(undefined, settingsOf(extensions));
  const logger = await createLogger(config, options.json ? 2 : 1, 0);
  endOnUnknownState(logger);
  const claim = claimDatabase(config.databaseUrl);
  const primary = new Primary(config, logger, options.workers);
  const start = async (): Promise<void> => {
    const { migrate = false, demo } = options;
    const animals = await asOperator((app) => (demo ? offerAnimals(app, config) : 0), {
      migrate,
      mayCreate: true,
      logger,
    });
    const started = await primary.start();
    if (started === undefined) return;
    const { app, origin, baseUrl, docsUrl } = started;
    const key = await firstKey(app, config);
    const metricsUrl = app.get(MetricsServer).url;
    introduce({ origin, baseUrl, docsUrl, metricsUrl, key, animals }, config, options, output);
    collectOnceIdle(logger, stop);
  };
  try {
    await Promise.race([start(), stop]);
    await stop;
  } catch (error) {
    throw error instanceof StartFailed ? new UnwellError() : error;
  } finally {
    await primary.stop();
    claim?.release();
  }
}
