import cluster from 'node:cluster';
import { loadConfig } from '../config/config.js';
import { settingsOf } from '../extensions/settings.js';
import { PublicAddress } from '../http/public-address.js';
import { startPetStore } from '../server.js';
import { createLogger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { WorkerLink } from '../workers/worker-link.js';
import { logDescriptor } from '../workers/worker-streams.js';
import { collectOnceIdle } from './collect-once-idle.js';
import { configured } from './config-file.js';
import type { ServeOptions } from './serve.command.js';
import { endOnUnknownState, unlessStopped } from './serving.js';

/** One of several processes: it serves, and has the primary process count. */
export async function serveAsWorker(options: ServeOptions, stop: Promise<void>): Promise<void> {
  const known = await configured();
  const config = loadConfig(undefined, settingsOf(known.extensions));
  const logger = await createLogger(
    config,
    logDescriptor(options.json ? 2 : 1),
    cluster.worker!.id,
  );
  endOnUnknownState(logger);
  const primary = new WorkerLink();
  try {
    const store = await unlessStopped(startPetStore({ config, logger, primary, ...known }), stop);
    if (store === undefined) return;
    const { baseUrl, docsUrl } = store.app.get(PublicAddress);
    primary.listening({ origin: store.origin, baseUrl, docsUrl }, store.app.get(Metrics));
    collectOnceIdle(logger, stop);
    await stop;
    await store.close();
  } finally {
    // The channel to the primary process would hold this one.
    cluster.worker!.disconnect();
  }
}
