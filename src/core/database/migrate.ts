import { DataSource, type DataSourceOptions, MigrationExecutor, QueryFailedError } from 'typeorm';
import { MIGRATIONS_TABLE } from './data-source-options.js';
import { describeMigration } from './extension-migrations.js';
import { driverErrorOf } from './database-error.js';

/** Any number, the same on every node. */
export const MIGRATION_LOCK = 7_305_197_442;
/**
 * Lets one process at a time migrate. The others wait for up to 5 s, so that a start that fails
 * takes less than 10 s. On PostgreSQL, requests queue behind a migration that waits for the lock of
 * a table, so it waits for a second only.
 */
const LOCK = {
  postgres: [
    `SET LOCAL lock_timeout = '5s'`,
    `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    `SET LOCAL lock_timeout = '1s'`,
  ],
  // A write that changes nothing.
  sqlite: ['PRAGMA busy_timeout = 5000', 'PRAGMA user_version = 0'],
};

/**
 * Brings the schema up to date; several processes may call this at once.
 * @param mayMigrate on PostgreSQL; the embedded database belongs to one server, and is always
 *   migrated
 * @returns the names of the migrations that ran
 * @throws {Error} if the schema may not be migrated, or if a migration fails, as on a table that
 *   another session locks
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
  // The request pool has statement timeouts; migrations must not.
  const own = new DataSource({ ...options, poolSize: 1, extra: {} } as DataSourceOptions);
  await own.initialize();
  try {
    return await runMigrations(own);
  } finally {
    await own.destroy();
  }
}

/**
 * The names of the migrations that ran. TypeORM takes a table that the role may not read for a
 * missing one.
 * @throws {QueryFailedError} if the role may not read the table
 */
export async function migrationsThatRan(dataSource: DataSource): Promise<string[]> {
  try {
    const rows = await dataSource.query<{ name: string }[]>(`SELECT name FROM ${MIGRATIONS_TABLE}`);
    return rows.map(({ name }) => name);
  } catch (error) {
    const { code, message } = driverErrorOf(error);
    if (code === '42P01' || /^no such table/.test(String(message))) return [];
    throw error;
  }
}

/**
 * Runs the pending migrations in one transaction, and looks for them within it: another process may
 * have run them.
 */
async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  const executor = new MigrationExecutor(dataSource, runner);
  const isPostgres = dataSource.options.type === 'postgres';
  await runner.beforeMigration();
  return runner.manager.transaction(async () => {
    for (const text of isPostgres ? LOCK.postgres : LOCK.sqlite) await runner.query(text);
    const pending = await executor.getPendingMigrations();
    for (const migration of pending) {
      await executor.executeMigration(migration).catch((cause: unknown) => {
        const { message, code = message } = driverErrorOf(cause);
        const failed = `The migration ${describeMigration(migration.name)} failed`;
        const error = new Error(`${failed}: ${String(message)}`, { cause });
        // The error of a statement. Any other, such as of a host, does not concern the database.
        throw cause instanceof QueryFailedError ? Object.assign(error, { code }) : error;
      });
    }
    return pending.map(({ name }) => name);
  });
}
