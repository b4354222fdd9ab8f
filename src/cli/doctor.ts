import { existsSync, statSync } from 'node:fs';
import { DataSource, type EntityMetadata } from 'typeorm';
import { type Config, ConfigError, loadConfig } from '../core/config/config.js';
import { ExplainedError } from '../core/config/fixes.js';
import { fileOf } from '../core/database/data-source-options.js';
import { assertNotForeign } from '../core/database/sqlite/sqlite.copy.js';
import { nameOf } from '../extensions/define.js';
import { settingsOf } from '../extensions/settings.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions, Result } from './add-command.js';
import { checkDatabase } from './doctor.database.js';
import { failed, type Finding, ok, warning } from './doctor.findings.js';
import { checkRedis } from './doctor.redis.js';
import { checkPorts } from './doctor.ports.js';
import { reasonOf } from './failure.js';
import { withApp } from './openapi.js';
import { table } from './output.js';

const OTHERS = 0o077;
const SETTINGS_FIX =
  'correct what this line names: the variable or its line in .env, the file, or the option';

/** `petstore doctor` */
export async function doctor(options: CommonOptions): Promise<Result> {
  const checks = await examine(options);
  const statuses = checks.map(({ status }) => status);
  const status = (['failed', 'warning'] as const).find((each) => statuses.includes(each)) ?? 'ok';
  const rows = checks.map(({ check, status: severity, detail, fix }) => [
    severity,
    check,
    fix === null ? detail : `${detail}\nfix: ${fix}`,
  ]);
  const text = table('STATUS,CHECK,RESULT', rows);
  return { value: { status, checks }, text, hasFailed: status === 'failed' };
}

/** Runs every check. Without a valid configuration, there is nothing else to check. */
async function examine(options: CommonOptions): Promise<Finding[]> {
  let known;
  let config: Config;
  let entities: readonly EntityMetadata[];
  try {
    known = await loadAllExtensions(options);
    config = loadConfig(undefined, settingsOf(known.extensions));
    // Extensions are checked while the application is assembled.
    entities = await withApp(config, known, (app) => app.get(DataSource).entityMetadatas);
  } catch (error) {
    if (error instanceof ExplainedError) return [failed('configuration', error.reason, error.fix)];
    const faults = error instanceof ConfigError ? error.faults : [reasonOf(error)];
    return faults.map((fault) => failed('configuration', fault, SETTINGS_FIX));
  }
  const findings = await Promise.all([
    checkDatabase(config, known, entities),
    checkRedis(config),
    checkPorts(config),
  ]);
  const names = known.extensions.map(nameOf).join(', ');
  const configuration = ok('configuration', `valid, extensions: ${names}`);
  return [configuration, ...findings.flat(), ...checkFiles(config), checkProxy(config)];
}

/**
 * Only the owner may read the database, which holds digests of keys, and `.env`, which may hold
 * passwords.
 */
function checkFiles({ databaseUrl }: Config): Finding[] {
  const database = fileOf(databaseUrl);
  const isChecked = database !== undefined && isOwn(database);
  const files = isChecked ? ['', '-wal', '-shm'].map((end) => database + end) : [];
  const findings = [...files, '.env'].flatMap((path) => {
    const status = existsSync(path) ? statSync(path) : undefined;
    if (!status?.isFile() || (status.mode & OTHERS) === 0) return [];
    const severity = path === '.env' ? warning : failed;
    return [severity('files', `other users can read ${path}`, `chmod 600 ${path}`)];
  });
  return findings.length > 0 ? findings : [ok('files', 'readable only by their owner')];
}

/** The rights of another program's file are its own matter. */
function isOwn(path: string): boolean {
  try {
    assertNotForeign(path);
    return true;
  } catch {
    return false;
  }
}

/** The service speaks no TLS, so an https address means a proxy. */
function checkProxy({ trustProxy, publicBaseUrl = '' }: Config): Finding {
  if (trustProxy) return ok('proxy', `X-Forwarded-For is trusted from ${trustProxy.join(', ')}`);
  if (!publicBaseUrl.startsWith('https:')) {
    return ok('proxy', 'TRUST_PROXY is off, which is correct without a proxy');
  }
  const detail = 'TRUST_PROXY is off: all clients of a proxy share one address';
  return warning('proxy', detail, 'set TRUST_PROXY to the addresses of the proxy');
}
