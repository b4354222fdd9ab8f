import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type Config, loadConfig } from '../core/config/config.js';
import type { CheckOptions } from '../extensions/check.js';
import type { Extension, PetStoreConfig } from '../extensions/define.js';
import { settingsOf } from '../extensions/settings.js';
import { DocumentSource } from '../docs/document.js';
import { createApp } from '../server.js';
import { createLogger } from '../core/telemetry/logger.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions } from './add-command.js';
import { explain } from './failure.js';

/**
 * Assembles the application, with all its checks, and closes it again. It depends on the code and
 * the addresses only, so that an empty database is enough.
 */
export async function withApp<T>(
  config: Config,
  known: CheckOptions & PetStoreConfig & { extensions: readonly Extension[] },
  work: (app: NestFastifyApplication) => T,
): Promise<Awaited<T>> {
  const alone = { ...config, databaseUrl: 'sqlite::memory:', redisUrl: undefined };
  const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
  let app: NestFastifyApplication | undefined;
  try {
    app = await createApp({ ...known, config: alone, logger });
    return await work(app);
  } catch (error) {
    throw explain(error, config, known.extensions);
  } finally {
    await app?.close();
  }
}

/** `petstore openapi` */
export async function documentText(
  options: CommonOptions & { format: 'json' | 'yaml' },
): Promise<string> {
  const known = await loadAllExtensions(options);
  const config = loadConfig(undefined, settingsOf(known.extensions));
  return withApp(config, known, (app) => {
    const source = app.get(DocumentSource);
    return options.json || options.format === 'json' ? source.json() : source.yaml();
  });
}
