import { loadConfig } from '../config/config.js';
import { settingsOf } from '../extensions/settings.js';
import { DocumentSource } from '../openapi/document.js';
import { createApp } from '../server.js';
import { createLogger } from '../telemetry/logger.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions } from './add-command.js';

/** `petstore openapi` */
export async function documentText(
  options: CommonOptions & { format: 'json' | 'yaml' },
): Promise<string> {
  const known = await loadAllExtensions(options);
  // The document depends on the code and the addresses only, so that an empty database is enough.
  const config = Object.assign(loadConfig(undefined, settingsOf(known.extensions)), {
    databaseUrl: 'sqlite::memory:',
    redisUrl: undefined,
  });
  const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
  const app = await createApp({ config, logger, ...known });
  const source = app.get(DocumentSource);
  const text = options.json || options.format === 'json' ? source.json() : await source.yaml();
  await app.close();
  return text;
}
