import type { INestApplicationContext } from '@nestjs/common';
import { loadConfig } from '../config/config.js';
import { settingsOf } from '../extensions/settings.js';
import { startPetStore } from '../server.js';
import { createLogger, type Logger } from '../telemetry/logger.js';
import { loadExtensions } from './common-options.js';
import { issueFirstKey, seedFirstAnimals } from './first-start.js';
import { introduce } from './introduction.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';

/** Serves until `stop` resolves, then drains. */
export async function serve(
  options: ServeOptions,
  output: Output,
  stop: Promise<void>,
): Promise<void> {
  const known = await loadExtensions(options);
  const config = loadConfig(undefined, settingsOf(known.extensions));
  const logger = await createLogger(config, options.json ? 2 : 1);
  exitOnUncaughtException(logger);
  let animals = 0;
  const prepare = async (app: INestApplicationContext): Promise<void> => {
    if (options.demo) animals = await seedFirstAnimals(app, config);
  };
  const { migrate = false } = options;
  const start = startPetStore({ config, logger, migrate, prepare, ...known });
  const store = await Promise.race([start, stop]);
  if (store === undefined) {
    // Stopped while starting: close the server if the start still completes.
    start.then((late) => late.close()).catch(() => undefined);
    return;
  }
  const key = await issueFirstKey(store.app, config);
  introduce({ store, config, animals, key }, options, output);
  await stop;
  await store.close();
}

function exitOnUncaughtException(logger: Logger): void {
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'Uncaught exception: the process exits because its state is unknown');
    logger.flush();
    process.exit(1);
  });
}
