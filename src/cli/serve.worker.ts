import cluster from 'node:cluster';
import { loadConfig } from '../config/config.js';
import { PublicAddress } from '../http/public-address.js';
import { startPetStore } from '../server.js';
import { createLogger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { WorkerLink } from '../workers/worker-link.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, stopSignal } from './serving.js';

/** One of several processes: it serves, and has the primary process count. */
export async function serveAsWorker(options: ServeOptions): Promise<void> {
  const stop = stopSignal();
  const config = loadConfig();
  const logger = await createLogger(config, options.json ? 2 : 1, cluster.worker!.id);
  endOnUnknownState(logger);
  const primary = new WorkerLink();
  try {
    const store = await startPetStore({ config, logger, primary });
    const { baseUrl, docsUrl } = store.app.get(PublicAddress);
    primary.listening({ origin: store.origin, baseUrl, docsUrl }, store.app.get(Metrics));
    await stop;
    await store.close();
  } finally {
    // The channel to the primary process would hold this one.
    cluster.worker!.disconnect();
  }
}
