import { setTimeout } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, MigrationExecutor } from 'typeorm';
import { MIGRATIONS_TABLE } from './data-source-options.js';
import { describeMigration } from './extension-migrations.js';
import { isBusy, isHeld, isMissing } from './outage.js';

/** Any number, the same on every node. */
export const MIGRATION_LOCK = 7_305_197_442;
/** Requests queue behind a migration that waits for a table lock, so each wait is short. */
const LOCK_TIMEOUT_MS = 500;
const RETRY_DELAY_MS = 250;
/** Keeps the time of a failing start below 10 s. */
const MAX_WAIT_MS = 6_000;

const IN_USE =
  'the database schema cannot be changed while a backup, a long query or another session locks its tables; ' +
  'run "petstore migrate" afterwards';

/**
 * Brings the schema up to date; several processes may call this at once.
 * @param mayMigrate on PostgreSQL; the embedded database belongs to one server, and is always migrated
 * @returns the names of the migrations that ran
 * @throws {Error} if the schema may not be migrated, or if other sessions migrate the database or lock its tables for too long
 */
export async function migrate(dataSource: DataSource, mayMigrate = true): Promise<string[]> {
  const { options } = dataSource;
  const ran = await migrationsThatRan(dataSource);
  const pending = dataSource.migrations.filter(({ name }) => !ran.includes(name!));
  if (pending.length === 0) return [];
  if (!mayMigrate && options.type === 'postgres') {
    const names = pending.map(({ name }) => describeMigration(name!)).join(', ');
    throw new Error(`the database schema lacks ${names}; run "petstore migrate" first`);
  }
  // The connections for requests end long statements and transactions.
  const extra = { lock_timeout: LOCK_TIMEOUT_MS };
  const own = new DataSource({ ...options, poolSize: 1, extra } as DataSourceOptions);
  await own.initialize();
  try {
    return await retryWhileLocked(() => runMigrations(own));
  } finally {
    await own.destroy();
  }
}

/**
 * The names of the migrations that ran. TypeORM takes a table that the role may not read for a missing one.
 * @throws {QueryFailedError} if the role may not read the table
 */
export async function migrationsThatRan(dataSource: DataSource): Promise<string[]> {
  try {
    const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    return rows.map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/**
 * Runs the pending migrations in one transaction, and looks for them within it: of several processes, one migrates and
 * the others find nothing to do.
 */
async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.beforeMigration();
    return await runner.manager.transaction(async () => {
      if (dataSource.options.type === 'postgres') {
        await runner.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
      }
      const ran = await new MigrationExecutor(dataSource, runner).executePendingMigrations();
      return ran.map(({ name }) => name);
    });
  } finally {
    await runner.afterMigration();
    await runner.release();
  }
}

async function retryWhileLocked<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      // The error of a migration has that of its statement as the cause.
      const { cause: ofStatement = error } = error as Error;
      if (!isHeld(ofStatement) && !isBusy(ofStatement)) throw error;
      if (performance.now() > deadline) throw new Error(IN_USE, { cause: error });
      await setTimeout(RETRY_DELAY_MS);
    }
  }
}
