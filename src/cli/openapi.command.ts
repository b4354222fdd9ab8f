import { Command, Option } from 'commander';
import { configured } from './config-file.js';
import type { Output } from './output.js';

/** `petstore openapi` */
export function openapiCommand(output: Output): Command {
  return new Command('openapi')
    .description('print the OpenAPI document')
    .addOption(new Option('--format <format>').choices(['json', 'yaml']).default('json'))
    .option('--json', 'the same as --format json')
    .action(async ({ format, json }: { format: 'json' | 'yaml'; json?: true }) => {
      const known = await configured();
      const [{ createApp }, { loadConfig }, { createLogger }, { DocumentSource }, { settingsOf }] =
        await Promise.all([
          import('../server.js'),
          import('../config/config.js'),
          import('../telemetry/logger.js'),
          import('../openapi/document-source.js'),
          import('../extensions/settings.js'),
        ]);
      // The document depends on the code alone: an empty database in memory serves to assemble it.
      const config = {
        ...loadConfig(undefined, settingsOf(known.extensions)),
        databaseUrl: 'sqlite::memory:',
        redisUrl: undefined,
        metricsPort: 0,
      };
      const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
      const app = await createApp({ config, logger, ...known });
      const document = app.get(DocumentSource);
      output.raw(json || format === 'json' ? document.json() : await document.yaml());
      await app.close();
    });
}
