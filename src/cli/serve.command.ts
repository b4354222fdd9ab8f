import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import type { Config } from '../config/config.js';
import type { Output } from './output.js';

/** `petstore serve` */
export function serveCommand(output: Output): Command {
  return new Command('serve')
    .description('serve the API until SIGTERM or SIGINT')
    .option('--migrate', 'bring the schema up to date first, also on PostgreSQL')
    .option('--json', 'print where it listens as JSON, and the log to standard error')
    .action((options: ServeOptions) => serve(options, output));
}

interface ServeOptions {
  migrate?: true;
  json?: true;
}

async function serve(options: ServeOptions, output: Output): Promise<void> {
  const [{ startPetStore }, { loadConfig }, { createLogger }, { PublicAddress }] =
    await Promise.all([
      import('../server.js'),
      import('../config/config.js'),
      import('../telemetry/logger.js'),
      import('../http/public-address.js'),
    ]);
  const config = loadConfig();
  const logger = await createLogger(config, options.json ? 2 : 1);
  // Listened for from now on: as the first process of a container it would be deaf to them by default.
  const stop = new Promise<void>((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'Nobody handled this error: the process is in an unknown state and ends');
    logger.flush();
    process.exit(1);
  });
  const store = await startPetStore({ config, logger, migrate: options.migrate ?? false });
  const { baseUrl, docsUrl } = store.app.get(PublicAddress);
  const key = await firstKey(store.app, config);
  if (options.json || key !== undefined) {
    const where = { origin: store.origin, baseUrl, docsUrl, key: key ?? null };
    output.print(where, options.json, () => introduction(key!, baseUrl, docsUrl));
  }
  await stop;
  await store.close();
}

/** A key for whoever starts the embedded default for the first time, to try it. */
async function firstKey(app: INestApplicationContext, config: Config): Promise<string | undefined> {
  const [{ KeysService }, { isEmbedded }] = await Promise.all([
    import('../keys/keys.service.js'),
    import('../database/data-source-options.js'),
  ]);
  const keys = app.get(KeysService);
  if (config.production || !isEmbedded(config.databaseUrl) || !(await keys.isEmpty())) {
    return undefined;
  }
  return (await keys.issue({ name: 'demo', plan: 'free' })).key;
}

function introduction(key: string, baseUrl: string, docsUrl: string): string {
  return `
  Your first API key (plan free), shown only this once:

    ${key}

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets

  Documentation: ${docsUrl}
`;
}
