import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../config/config.js';
import { isEmbedded } from '../database/data-source-options.js';
import { KeysService } from '../keys/keys.service.js';
import type { Logger } from '../telemetry/logger.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';

interface Introduction {
  origin: string;
  baseUrl: string;
  docsUrl: string;
  /** Undefined where there were keys already. */
  key: string | undefined;
}

/**
 * Resolves when this process is told to stop. To be called early: as the first process of a container it
 * would be deaf to these signals by default.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGTERM', () => resolve());
    process.once('SIGINT', () => resolve());
  });
}

export function endOnUnknownState(logger: Logger): void {
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'Nobody handled this error: the process is in an unknown state and ends');
    logger.flush();
    process.exit(1);
  });
}

/** A key for whoever starts the embedded default for the first time, to try it. */
export async function firstKey(
  app: INestApplicationContext,
  config: Config,
): Promise<string | undefined> {
  const keys = app.get(KeysService);
  if (config.production || !isEmbedded(config.databaseUrl) || !(await keys.isEmpty())) {
    return undefined;
  }
  return (await keys.issue({ name: 'demo', plan: 'free' })).key;
}

/** Says where to go, to a program that asked for it or to whoever has a first key now. */
export function introduce(
  { origin, baseUrl, docsUrl, key }: Introduction,
  { json }: ServeOptions,
  output: Output,
): void {
  if (!json && key === undefined) return;
  output.print({ origin, baseUrl, docsUrl, key: key ?? null }, json, () =>
    welcome(key!, baseUrl, docsUrl),
  );
}

function welcome(key: string, baseUrl: string, docsUrl: string): string {
  return `
  Your first API key (plan free), shown only this once:

    ${key}

  Try it:

    curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets

  Documentation: ${docsUrl}
`;
}
