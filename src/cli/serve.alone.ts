import { loadConfig } from '../config/config.js';
import { PublicAddress } from '../http/public-address.js';
import { startPetStore } from '../server.js';
import { createLogger } from '../telemetry/logger.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, firstKey, introduce, stopSignal } from './serving.js';

/** One process, which serves and counts. */
export async function serveAlone(options: ServeOptions, output: Output): Promise<void> {
  const config = loadConfig();
  const logger = await createLogger(config, options.json ? 2 : 1);
  const stop = stopSignal();
  endOnUnknownState(logger);
  const store = await startPetStore({ config, logger, migrate: options.migrate ?? false });
  const { baseUrl, docsUrl } = store.app.get(PublicAddress);
  const key = await firstKey(store.app, config);
  introduce({ origin: store.origin, baseUrl, docsUrl, key }, options, output);
  await stop;
  await store.close();
}
