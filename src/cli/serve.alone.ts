import type { INestApplicationContext } from '@nestjs/common';
import { loadConfig } from '../config/config.js';
import { settingsOf } from '../extensions/settings.js';
import { PublicAddress } from '../http/public-address.js';
import { startPetStore } from '../server.js';
import { createLogger } from '../telemetry/logger.js';
import { MetricsServer } from '../telemetry/metrics.server.js';
import { collectOnceIdle } from './collect-once-idle.js';
import { configured } from './config-file.js';
import { firstKey, offerAnimals } from './first-start.js';
import { introduce } from './introduction.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, unlessStopped } from './serving.js';

/** Runs one node until it is told to stop. */
export async function serveAlone(
  options: ServeOptions,
  output: Output,
  stop: Promise<void>,
): Promise<void> {
  const known = await configured();
  const config = loadConfig(undefined, settingsOf(known.extensions));
  const logger = await createLogger(config, options.json ? 2 : 1);
  endOnUnknownState(logger);
  const { migrate = false } = options;
  let animals = 0;
  const prepare = async (app: INestApplicationContext): Promise<void> => {
    if (options.demo) animals = await offerAnimals(app, config);
  };
  const start = startPetStore({ config, logger, migrate, prepare, ...known });
  const store = await unlessStopped(start, stop);
  if (store === undefined) return;
  const { app, origin } = store;
  const { baseUrl, docsUrl } = app.get(PublicAddress);
  const metricsUrl = app.get(MetricsServer).url;
  const key = await firstKey(app, config);
  introduce({ origin, baseUrl, docsUrl, metricsUrl, key, animals }, config, options, output);
  collectOnceIdle(logger, stop);
  await stop;
  await store.close();
}
