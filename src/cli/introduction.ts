import { relative, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { PublicAddress } from '../http/public-address.js';
import type { PetStore } from '../server.js';
import { MetricsServer } from '../telemetry/metrics.server.js';
import type { CommonOptions } from './common-options.js';
import type { Output } from './output.js';

export interface Started {
  store: PetStore;
  config: Config;
  /** Number of made-up animals that were added. */
  animals: number;
  /** The first key, if one was issued. */
  key: string | undefined;
}

/** Prints the addresses and the first key. */
export function introduce(started: Started, { json }: CommonOptions, output: Output): void {
  const { store, config, key = null } = started;
  // A log in JSON is read by programs; only the first key must be seen.
  if (!json && key === null && config.logFormat === 'json') return;
  const { baseUrl, docsUrl } = store.app.get(PublicAddress);
  const metricsUrl = store.app.get(MetricsServer).url ?? null;
  const database = databaseName(config);
  const value = { origin: store.origin, baseUrl, docsUrl, metricsUrl, database, key };
  output.print(value, json, () => screen(value, started.animals));
}

interface Addresses {
  baseUrl: string;
  docsUrl: string;
  metricsUrl: string | null;
  database: string;
  key: string | null;
}

function screen(
  { baseUrl, docsUrl, metricsUrl, database, key }: Addresses,
  animals: number,
): string {
  const lines = [
    'The pet store is running.',
    '',
    `  API            ${baseUrl}`,
    `  Documentation  ${docsUrl}`,
    `  Metrics        ${metricsUrl ?? 'off (METRICS_PORT)'}`,
    `  Database       ${database}${animals === 0 ? '' : ` (with ${animals} made-up animals)`}`,
    `  More keys      ${programName()} keys issue --name "My app" --plan pro`,
  ];
  if (key !== null) {
    const curl = `curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets`;
    lines.push('', 'Your first API key (plan free), shown once:', '', `  ${key}`, '');
    lines.push('Try it:', '', `  ${curl}`);
  }
  return `\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n`;
}

/** The path of the file relative to the working directory, or the server without its password. */
function databaseName({ databaseUrl }: Config): string {
  const file = fileOf(databaseUrl);
  if (file === undefined) {
    const { host, pathname } = new URL(databaseUrl);
    return `postgres://${host}${pathname}`;
  }
  const path = relative('.', file);
  return path.startsWith('..') ? resolve(file) : path;
}

function programName(): string {
  const isClone = process.argv[1]?.endsWith('petstore.mjs');
  return isClone ? 'npm run --silent petstore --' : 'petstore';
}
