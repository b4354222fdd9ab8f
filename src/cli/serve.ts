import { isIPv6 } from 'node:net';
import { basename } from 'node:path';
import { DataSource } from 'typeorm';
import { type Config, loadConfig } from '../core/config/config.js';
import { withHost } from '../core/config/urls.js';
import { PublicAddress } from '../core/config/public-address.js';
import { fileOf } from '../core/database/data-source-options.js';
import { runSeeds } from '../extensions/define.js';
import { settingsOf } from '../extensions/settings.js';
import { KeyList } from '../core/keys/key-list.js';
import { KeysService } from '../core/keys/keys.service.js';
import type { PetStore } from '../pet-store.js';
import { startPetStore } from '../server.js';
import { createLogger } from '../core/telemetry/logger.js';
import { MetricsServer } from '../core/telemetry/metrics.server.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions } from './add-command.js';
import { explain } from './failure.js';
import type { Output } from './output.js';

export interface ServeOptions extends CommonOptions {
  demo: boolean;
  migrate?: true;
}

/** Commands in a shell, by the file that Node runs. */
const PROGRAMS: Record<string, string> = {
  'petstore.mjs': 'npm run --silent petstore --',
  'pet-store-service': 'npx pet-store-service',
};

/** Serves until `stop` resolves, then drains. */
export async function serve(
  options: ServeOptions,
  output: Output,
  stop: Promise<NodeJS.Signals>,
): Promise<void> {
  const known = await loadAllExtensions(options);
  const config = loadConfig(undefined, settingsOf(known.extensions));
  const logger = await createLogger(config, options.json ? 2 : 1);
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'Uncaught exception: the process exits because its state is unknown');
    logger.flush();
    process.exit(1);
  });
  let isFirst = false;
  let samples = '';
  const start = startPetStore({
    config,
    logger,
    migrate: options.migrate,
    prepare: async (app) => {
      if (config.production || fileOf(config.databaseUrl) === undefined) return;
      isFirst = (await app.get(KeyList).find({ limit: 1 })).length === 0;
      if (options.demo && isFirst) samples = await runSeeds(known.extensions, app.get(DataSource));
    },
    ...known,
  });
  const store = await Promise.race([start, stop]).catch((error: unknown) => {
    throw explain(error, config, known.extensions);
  });
  // Stopped while starting: nothing was accepted, and the process exits.
  if (typeof store === 'string') return;
  // Issued after the server listens: the key is shown only once.
  const issue = () => store.app.get(KeysService).issue({ name: 'demo', plan: 'free' });
  const key = isFirst ? (await issue()).key : null;
  // A log in JSON is read by programs; only the first key must be seen.
  if (options.json || key !== null || config.logFormat === 'pretty') {
    output.print(introduction(store, config, samples, key), options.json);
  }
  await store.close(await stop);
}

/**
 * The addresses, the sample data that was added, and the first key if one was issued.
 */
function introduction(store: PetStore, config: Config, samples: string, key: string | null) {
  const { baseUrl, docsUrl } = store.app.get(PublicAddress);
  const metricsUrl = store.app.get(MetricsServer).url ?? null;
  const { adminHost, adminPort } = config;
  const adminName = isIPv6(adminHost) ? `[${adminHost}]` : adminHost;
  const adminUrl = adminPort === 0 ? null : `http://${adminName}:${adminPort}/`;
  const { host, pathname } = new URL(withHost(config.databaseUrl));
  // Without the password of PostgreSQL.
  const database = fileOf(config.databaseUrl) ?? `postgres://${host}${pathname}`;
  const program = PROGRAMS[basename(process.argv[1] ?? '')] ?? 'petstore';
  const addresses = `
  The pet store is running.

    API            ${baseUrl}
    Documentation  ${docsUrl}
    Metrics        ${metricsUrl ?? 'not served (see METRICS_PORT)'}
    Console        ${adminUrl ?? 'not served (see ADMIN_PORT)'}
    Database       ${database}${samples && ` (with ${samples})`}
    More keys      ${program} keys issue --name "My app" --plan pro
`;
  const firstKey = `
  Your first API key (plan free), shown once:

    ${key}

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets
`;
  const value = { origin: store.origin, baseUrl, docsUrl, metricsUrl, database, key };
  return { value, text: key === null ? addresses : addresses + firstKey };
}
