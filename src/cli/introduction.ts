import { relative, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import type { Output } from './output.js';
import type { ServeOptions } from './serve.command.js';

export interface Introduction {
  origin: string;
  baseUrl: string;
  docsUrl: string;
  /** Undefined where they are not served. */
  metricsUrl: string | undefined;
  /** Undefined where there were keys already. */
  key: string | undefined;
  /** Made-up animals that were added. */
  animals: number;
}

/** Says what runs where, to a program that asked for it, or to a person. */
export function introduce(
  introduction: Introduction,
  config: Config,
  { json }: ServeOptions,
  output: Output,
): void {
  const { origin, baseUrl, docsUrl, metricsUrl = null, key = null } = introduction;
  // A log in JSON has no reader but at the first start.
  if (!json && key === null && config.logFormat === 'json') return;
  const value = { origin, baseUrl, docsUrl, metricsUrl, database: databaseOf(config), key };
  output.print(value, json, () => screen(introduction, config));
}

function screen(introduction: Introduction, config: Config): string {
  const { baseUrl, docsUrl, metricsUrl, key, animals } = introduction;
  const offer = animals === 0 ? '' : ` (with ${animals} made-up animals)`;
  const lines = [
    'The pet store is open.',
    '',
    `  API            ${baseUrl}`,
    `  Documentation  ${docsUrl}`,
    `  Metrics        ${metricsUrl ?? 'not served; METRICS_PORT says where'}`,
    `  Database       ${databaseOf(config)}${offer}`,
    `  More keys      ${program()} keys issue --name "My app" --plan pro`,
  ];
  if (key !== undefined) {
    lines.push(
      '',
      'Your first API key (plan free), shown only this once:',
      '',
      `  ${key}`,
      '',
      'Try it:',
      '',
      `  curl -i -H 'Authorization: Bearer ${key}' ${baseUrl}/pets`,
    );
  }
  return `\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n`;
}

/** The file as it is to be found from here, or the server without its password. */
function databaseOf({ databaseUrl }: Config): string {
  const file = fileOf(databaseUrl);
  if (file === undefined) {
    const { host, pathname } = new URL(databaseUrl);
    return `postgres://${host}${pathname}`;
  }
  const path = relative('.', file);
  return path.startsWith('..') ? resolve(file) : path;
}

/** This program, as it is called where it was started. */
function program(): string {
  const isCheckout = process.argv[1]?.endsWith('petstore.mjs');
  return isCheckout ? 'npm run --silent petstore --' : 'petstore';
}
