import { type Command, Option } from 'commander';
import { addCommand, type CommonOptions, loadExtensions } from './common-options.js';
import type { Output } from './output.js';

type OpenapiOptions = CommonOptions & { format: 'json' | 'yaml' };

/** Adds `petstore openapi`. */
export function addOpenapiCommand(program: Command, output: Output): void {
  addCommand(program, 'openapi', 'print the OpenAPI document', [
    'openapi --format yaml > openapi.yaml',
  ])
    .addOption(new Option('--format <format>').choices(['json', 'yaml']).default('json'))
    .action(async (options: OpenapiOptions) => {
      const known = await loadExtensions(options);
      const [{ createApp }, { loadConfig }, { createLogger }, { DocumentSource }, { settingsOf }] =
        await Promise.all([
          import('../server.js'),
          import('../config/config.js'),
          import('../telemetry/logger.js'),
          import('../openapi/document-source.js'),
          import('../extensions/settings.js'),
        ]);
      // The document depends on the code and the addresses only, so that an empty database is enough.
      const config = {
        ...loadConfig(undefined, settingsOf(known.extensions)),
        databaseUrl: 'sqlite::memory:',
        redisUrl: undefined,
        metricsPort: 0,
      };
      const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
      const app = await createApp({ config, logger, ...known });
      const source = app.get(DocumentSource);
      const asJson = options.json ?? options.format === 'json';
      output.raw(asJson ? source.json() : await source.yaml());
      await app.close();
    });
}
