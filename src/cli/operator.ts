import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { loadConfig } from '../core/config/config.js';
import { fileOf } from '../core/database/data-source-options.js';
import { describeMigration } from '../core/database/extension-migrations.js';
import { migrate as migrateSchema } from '../core/database/migrate.js';
import { assertNotForeign } from '../core/database/sqlite/sqlite.copy.js';
import { checkExtensions } from '../extensions/check.js';
import { type Extension, runSeeds } from '../extensions/define.js';
import { settingsOf } from '../extensions/settings.js';
import { coreModules, type CoreOptions } from '../core.module.js';
import type { Initiator } from '../core/keys/audit-record.entity.js';
import { KeysModule } from '../core/keys/keys.module.js';
import { createLogger } from '../core/telemetry/logger.js';
import { waitAtMost } from '../core/time/timeout.js';
import { UsageModule } from '../core/usage/usage.module.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions, Result } from './add-command.js';
import { explain } from './failure.js';

/** An unreachable database may never confirm that a connection is closed. */
const CLOSE_TIMEOUT_MS = 2_000;

/** A mistyped path must neither create a database nor add tables to another program's. */
export function assertDatabaseExists(path: string | undefined): void {
  if (path === undefined) return;
  assertNotForeign(path);
  if (existsSync(path)) return;
  throw new Error(`there is no database at ${path}; run petstore migrate, or set DATABASE_URL`);
}

/**
 * Runs `work` on the modules of the service, without its HTTP server. On SQLite the schema is
 * migrated first; on PostgreSQL it must be up to date.
 * @param may `create`: a missing database is created; `migrate`: so is the schema on PostgreSQL;
 *   `command`: the modules of extensions are loaded, for a command of theirs
 */
export async function runAsOperator<T>(
  options: CommonOptions,
  work: (app: INestApplicationContext, migrations: readonly string[]) => T | Promise<T>,
  may?: 'create' | 'migrate' | 'command',
): Promise<T> {
  const known = await loadAllExtensions(options);
  checkExtensions(known.extensions, known);
  const isCommand = may === 'command';
  const config = loadConfig(undefined, isCommand ? settingsOf(known.extensions) : []);
  if (may === undefined || isCommand) assertDatabaseExists(fileOf(config.databaseUrl));
  const logger = await createLogger({ logLevel: 'silent', logFormat: 'json' });
  let suspects: readonly Extension[] = known.extensions;
  let app: INestApplicationContext | undefined;
  try {
    const modules = isCommand ? modulesOfService : modulesOfOperator;
    const imports = await modules({ config, logger, ...known });
    app = await NestFactory.createApplicationContext(
      { module: class OperatorModule {}, imports },
      { logger: false, abortOnError: false },
    );
    const migrations = await migrateSchema(app.get(DataSource), may === 'migrate');
    // The user knows whose command it is.
    if (isCommand) suspects = [];
    return await work(app, migrations);
  } catch (error) {
    throw explain(error, config, suspects);
  } finally {
    if (app) await waitAtMost(CLOSE_TIMEOUT_MS, app.close());
  }
}

/** The HTTP server, which takes longest to load, is left out. */
function modulesOfOperator(options: CoreOptions) {
  return [...coreModules(options), KeysModule.forRoot(options.extensions ?? []), UsageModule];
}

async function modulesOfService(options: CoreOptions) {
  const { serviceModules } = await import('../app.module.js');
  const { Transport } = await import('../core/http/transport.js');
  return serviceModules(new Transport(options.config), options);
}

/** The audit trail names the user of the command line. */
export function operator(): Initiator {
  const actor = { type: 'cli', name: `cli:${userName()}` } as const;
  return { actor, address: null, requestId: null };
}

/** The user behind `sudo`. In a container, the user ID may have no name. */
function userName(): string {
  try {
    return process.env['SUDO_USER'] || userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** `petstore migrate` */
export async function migrate(options: CommonOptions): Promise<Result> {
  const ran = await runAsOperator(options, (_app, migrations) => migrations, 'migrate');
  const migrations = ran.map(describeMigration);
  const text = ran.length === 0 ? 'The schema is up to date.' : `Ran ${migrations.join(', ')}.`;
  return { value: { migrations }, text };
}

/** `petstore seed --pets N` */
export async function seed(options: CommonOptions & { pets: number }): Promise<Result> {
  const { pets } = options;
  const { extensions } = await loadAllExtensions(options);
  const run = (app: INestApplicationContext) => runSeeds(extensions, app.get(DataSource), pets);
  const added = await runAsOperator(options, run, 'create');
  return { value: { pets }, text: `Added ${added || 'nothing'}.` };
}
