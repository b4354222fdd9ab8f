import { existsSync, statSync } from 'node:fs';
import { DataSource } from 'typeorm';
import type { Config } from '../config/config.js';
import { connect } from '../database/connect.js';
import { createDataSource, dataSourceOptions, fileOf } from '../database/data-source-options.js';
import { NOW } from '../database/database-time.js';
import { describeMigration, migrationNames } from '../database/extension-migrations.js';
import { migrationsThatRan } from '../database/migrate.js';
import { driverErrorOf } from '../database/outage.js';
import { type Extension, migrationsOf } from '../extensions/define.js';
import { checkClock, failed, type Finding, ok, warning } from './doctor.findings.js';
import { explain } from './failure.js';

/** Checks the database, its schema and its clock, and changes nothing. */
export async function checkDatabase(
  { databaseUrl: url }: Config,
  extensions: readonly Extension[],
): Promise<Finding[]> {
  const file = fileOf(url);
  const known = migrationNames(migrationsOf(extensions));
  try {
    if (file === undefined) return await checkPostgres(url, known);
    if (existsSync(file)) return await checkSqlite(file, known);
  } catch (error) {
    const { reason, fix = 'check DATABASE_URL and its permissions' } = explain(
      driverErrorOf(error),
    );
    return [failed('database', reason, fix)];
  }
  const fix = 'run petstore migrate or petstore serve to create it, or set DATABASE_URL';
  return [failed('database', `there is no database at ${file}`, fix)];
}

/** Connects exactly as `serve` does. */
async function checkPostgres(url: string, known: readonly string[]): Promise<Finding[]> {
  const dataSource = await connect(createDataSource(dataSourceOptions(url)));
  try {
    const [{ version, nowMs }] = await dataSource.query<[{ version: string; nowMs: string }]>(
      `SELECT current_setting('server_version') AS version, ${NOW.postgres} AS "nowMs"`,
    );
    const aheadMs = Number(nowMs) - Date.now();
    return [
      ok('database', `PostgreSQL ${version}`),
      checkSchema(await migrationsThatRan(dataSource), known, failed),
      checkClock('the clock of the database', aheadMs),
    ];
  } finally {
    await dataSource.destroy();
  }
}

async function checkSqlite(file: string, known: readonly string[]): Promise<Finding[]> {
  const options = { type: 'better-sqlite3', database: file, fileMustExist: true } as const;
  const dataSource = await new DataSource(options).initialize();
  try {
    // Checks every page, but not the order of the indexes, which would take much longer.
    const [{ quick_check: fault }] =
      await dataSource.query<[{ quick_check: string }]>('PRAGMA quick_check(1)');
    if (fault !== 'ok') {
      // The lines before the last one name the database.
      throw Object.assign(new Error(fault.split('\n').at(-1)), { code: 'SQLITE_CORRUPT' });
    }
    const [{ version }] = await dataSource.query<[{ version: string }]>(
      'SELECT sqlite_version() AS version',
    );
    // SQLite has no clock of its own.
    const aheadMs = Math.floor(statSync(file).mtimeMs) - Date.now();
    return [
      ok('database', `SQLite ${version}`),
      // `serve` runs pending migrations.
      checkSchema(await migrationsThatRan(dataSource), known, warning),
      aheadMs > 0
        ? checkClock('the latest write', aheadMs)
        : ok('clock', 'no write is in the future'),
    ];
  } finally {
    await dataSource.destroy();
  }
}

function checkSchema(
  migrations: readonly string[],
  known: readonly string[],
  severity: typeof failed,
): Finding {
  const behind = known.filter((name) => !migrations.includes(name));
  const unknown = migrations.filter((name) => !known.includes(name));
  const names = (list: string[]): string => list.map(describeMigration).join(', ');
  if (behind.length > 0) {
    const fix = 'run petstore migrate, with a role that may create tables in the schema';
    return severity('schema', `pending migrations: ${names(behind)}`, fix);
  }
  if (unknown.length > 0) {
    const fix = 'run the release that created them, or add their extension to petstore.config.js';
    return warning('schema', `unknown migrations: ${names(unknown)}`, fix);
  }
  return ok('schema', `up to date, ${known.length} migration${known.length === 1 ? '' : 's'}`);
}
