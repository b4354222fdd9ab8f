import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { LOG_SUFFIXES, OTHERS } from '../database/sqlite/sqlite.file.js';
import { failed, type Finding, ok, warning } from './finding.js';

const MEGABYTE = 1_048_576;
const FEW_BYTES = 1_024 * MEGABYTE;
const TOO_FEW_BYTES = 100 * MEGABYTE;
const PATIENCE_MS = 2_000;

/** What others may read is read by others: the database has digests, `.env` may have passwords. */
export function examineFiles({ databaseUrl }: Config): Finding[] {
  const database = fileOf(databaseUrl);
  const ours = database === undefined ? [] : ['', ...LOG_SUFFIXES].map((end) => database + end);
  const there = [...ours, '.env'].filter((path) => existsSync(path));
  const findings = there.flatMap((path) => {
    const { mode, uid } = statSync(path);
    if ((mode & OTHERS) !== 0) {
      const say = ours.includes(path) ? failed : warning;
      return [say('files', `others can read ${path}`, `chmod 600 ${path}`)];
    }
    if (!ours.includes(path) || isWritable(path)) return [];
    const cure =
      uid === process.getuid?.() ? `chmod 600 ${path}` : 'chown it to the user that serves';
    return [failed('files', `${path} cannot be written`, cure)];
  });
  return findings.length > 0 ? findings : [ok('files', 'for their owner alone')];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Of where the database is. */
export function examineDisk({ databaseUrl }: Config): Finding[] {
  const file = fileOf(databaseUrl);
  if (file === undefined) return [];
  let place = dirname(resolve(file));
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const detail = `${Math.floor(free / MEGABYTE)} MB are free in ${place}`;
  const cure = 'make room, or move the database: without it, creates are answered with 503';
  if (free < TOO_FEW_BYTES) return [failed('disk', detail, cure)];
  return [free < FEW_BYTES ? warning('disk', detail, cure) : ok('disk', detail)];
}

export async function examinePorts({ host, port, metricsPort }: Config): Promise<Finding[]> {
  return Promise.all([
    examinePort('PORT', host, port, '/health/live'),
    ...(metricsPort === 0
      ? []
      : [examinePort('METRICS_PORT', '127.0.0.1', metricsPort, '/metrics')]),
  ]);
}

async function examinePort(
  setting: string,
  host: string,
  port: number,
  path: string,
): Promise<Finding> {
  const where = `${host}:${port} (${setting})`;
  const code = await tryToListen(host, port);
  if (code === undefined) return ok('ports', `${where} is free`);
  if (code === 'EADDRINUSE' && (await answers(host, port, path))) {
    return ok('ports', `${where} is served by a pet store`);
  }
  const reason = code === 'EADDRINUSE' ? 'another program listens there' : code;
  return failed('ports', `${where}: ${reason}`, cureOf(code, setting));
}

function cureOf(code: string, setting: string): string {
  switch (code) {
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'set HOST to an address of this machine';
    case 'EACCES':
      return `set ${setting} to a port from 1024 up: this user may listen on no other`;
    default:
      return `set ${setting} to a free port`;
  }
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code, message }: NodeJS.ErrnoException) => resolve(code ?? message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

async function answers(host: string, port: number, path: string): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  const authority = name.includes(':') ? `[${name}]` : name;
  try {
    const answer = await fetch(`http://${authority}:${port}${path}`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    return path === '/metrics' ? text.includes('petstore_') : text === '{"status":"ok"}';
  } catch {
    return false;
  }
}
