import type { INestApplicationContext } from '@nestjs/common';
import { Command } from 'commander';
import type { Config } from '../config/config.js';
import type { Output } from './output.js';

/** `petstore serve` */
export function serveCommand(output: Output): Command {
  return new Command('serve')
    .description('serve the API until SIGTERM or SIGINT')
    .option('--migrate', 'bring the schema up to date first, also on PostgreSQL')
    .action((options: { migrate?: true }) => serve(options.migrate ?? false, output));
}

async function serve(migrate: boolean, output: Output): Promise<void> {
  const [{ startPetStore }, { loadConfig }, { createLogger }] = await Promise.all([
    import('../server.js'),
    import('../config/config.js'),
    import('../telemetry/logger.js'),
  ]);
  const config = loadConfig();
  const logger = await createLogger(config);
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
  const store = await startPetStore({ config, logger, migrate });
  await introduce(store.app, config, output);
  await stop;
  await store.close();
}

/** Whoever starts it for the first time, to try it, is handed what it takes. */
async function introduce(
  app: INestApplicationContext,
  config: Config,
  output: Output,
): Promise<void> {
  const [{ KeysService }, { PublicAddress }, { isEmbedded }] = await Promise.all([
    import('../keys/keys.service.js'),
    import('../http/public-address.js'),
    import('../database/data-source-options.js'),
  ]);
  const keys = app.get(KeysService);
  if (config.production || !isEmbedded(config.databaseUrl) || !(await keys.isEmpty())) return;
  const { key } = await keys.issue({ name: 'demo', plan: 'free' });
  const { baseUrl, docsUrl } = app.get(PublicAddress);
  output.raw(`
  Your first API key (plan free), shown only this once:

    ${key}

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets

  Documentation: ${docsUrl}

`);
}
