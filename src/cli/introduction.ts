import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { PublicAddress } from '../config/public-address.js';
import type { PetStore } from '../pet-store.js';
import { MetricsServer } from '../telemetry/metrics.server.js';
import type { Output } from './output.js';

/** Prints the addresses, the number of made-up animals that were added, and the first key if one was issued. */
export function introduce(
  store: PetStore,
  config: Config,
  { animals, key, json }: { animals: number; key: string | null; json?: true },
  output: Output,
): void {
  // A log in JSON is read by programs; only the first key must be seen.
  if (!json && key === null && config.logFormat === 'json') return;
  const { baseUrl, docsUrl } = store.app.get(PublicAddress);
  const metricsUrl = store.app.get(MetricsServer).url ?? null;
  const database = databaseName(config);
  const value = { origin: store.origin, baseUrl, docsUrl, metricsUrl, database, key };
  const isClone = process.argv[1]?.endsWith('petstore.mjs');
  const program = isClone ? 'npm run --silent petstore --' : 'petstore';
  const addresses = `
  The pet store is running.

    API            ${baseUrl}
    Documentation  ${docsUrl}
    Metrics        ${metricsUrl ?? 'off (METRICS_PORT)'}
    Database       ${database}${animals === 0 ? '' : ` (with ${animals} made-up animals)`}
    More keys      ${program} keys issue --name "My app" --plan pro
`;
  const firstKey = `
  Your first API key (plan free), shown once:

    ${key}

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets
`;
  output.print(value, json, () => (key === null ? addresses : addresses + firstKey));
}

/** The path of the file, or the address of the server without its password. */
function databaseName({ databaseUrl }: Config): string {
  const { host, pathname } = new URL(databaseUrl);
  return fileOf(databaseUrl) ?? `postgres://${host}${pathname}`;
}
