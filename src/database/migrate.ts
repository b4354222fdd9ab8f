import { setTimeout } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { connect } from './connect.js';
import { createDataSource } from './data-source-options.js';
import { ownerOf } from './extension-migrations.js';
import { isBusy, isHeld } from './outage.js';
import { migrationsThatRan, schemaState } from './schema-state.js';

/** Any number, the same on every node. */
export const MIGRATION_LOCK = 7_305_197_442;
/** Requests queue behind a migration that waits for a table lock, so each wait is short. */
const LOCK_TIMEOUT_MS = 500;
const RETRY_DELAY_MS = 250;
/** Keeps the time of a failing start below 10 s. */
const MAX_WAIT_MS = 6_000;

/** Called with what a migration waits for. */
export type OnWait = (reason: string) => void;

/**
 * Brings the schema up to date; several processes may call this at once.
 * @returns the names of the migrations that ran
 * @throws {SchemaInUseError} if other sessions hold locks on the tables for too long
 */
export async function migrate(
  dataSource: DataSource,
  onWait: OnWait = () => undefined,
): Promise<string[]> {
  const { options } = dataSource;
  if (options.type !== 'postgres') return migrateSqlite(dataSource);
  // A pool of its own, because that of the requests may have only one connection and ends long statements.
  const extra = { lock_timeout: LOCK_TIMEOUT_MS };
  const own = await connect(createDataSource({ ...options, poolSize: 2, extra }));
  const session = own.createQueryRunner();
  try {
    await lockMigrations(session, onWait);
    return await whenTablesAreFree(() => runMigrations(own), onWait);
  } finally {
    await session.release();
    await own.destroy();
  }
}

/**
 * Migrates the embedded database, which belongs to one server, and PostgreSQL only if `mayMigrate`.
 * @returns the names of the migrations that ran
 * @throws {SchemaOutdatedError}
 */
export async function ensureSchema(
  dataSource: DataSource,
  mayMigrate: boolean,
  onWait: OnWait,
): Promise<string[]> {
  if (mayMigrate || dataSource.options.type !== 'postgres') return migrate(dataSource, onWait);
  const known = dataSource.migrations.map(({ name }) => name!);
  const { behind } = schemaState(await migrationsThatRan(dataSource), known);
  if (behind.length > 0) throw new SchemaOutdatedError(behind);
  return [];
}

export class SchemaOutdatedError extends Error {
  constructor(pending: readonly string[]) {
    const owners = pending.map((migration) => ownerOf(migration).owner);
    const names = new Set(
      owners.map((owner) => (owner ? `the extension ${owner}` : 'this version')),
    );
    super(
      `The database schema is behind ${[...names].join(' and ')}: run "petstore migrate" first`,
    );
  }
}

export class SchemaInUseError extends Error {
  constructor(cause: unknown) {
    super(
      'The database schema cannot be changed while a backup, a long query or another session locks its tables: ' +
        'run "petstore migrate" when that has ended',
      { cause },
    );
  }
}

async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const ran = await dataSource.runMigrations();
  return ran.map(({ name }) => name);
}

/** If another process migrates at the same time, this one may fail because a table exists; then it tries again. */
async function migrateSqlite(dataSource: DataSource): Promise<string[]> {
  try {
    return await runMigrations(dataSource);
  } catch (error) {
    if (isBusy(error)) throw new SchemaInUseError(error);
    return runMigrations(dataSource);
  }
}

/** The lock ends with the session, so it also ends if this process is killed. */
async function lockMigrations(session: QueryRunner, onWait: OnWait): Promise<void> {
  const [{ isFree }] = (await session.query('SELECT pg_try_advisory_lock($1) AS "isFree"', [
    MIGRATION_LOCK,
  ])) as [{ isFree: boolean }];
  if (isFree) return;
  onWait('Another process migrates the database: waiting for it');
  await session.query('SET lock_timeout = 0');
  await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
}

async function whenTablesAreFree<T>(work: () => Promise<T>, onWait: OnWait): Promise<T> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isHeld(error)) throw error;
      if (performance.now() > deadline) throw new SchemaInUseError(error);
      if (attempt === 1)
        onWait('Other sessions lock tables that the migration changes: trying again');
      await setTimeout(RETRY_DELAY_MS);
    }
  }
}
