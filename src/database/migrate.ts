import { setTimeout } from 'node:timers/promises';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { createDataSource } from './data-source-options.js';
import { ownerOf } from './guest-migrations.js';
import { isBusy } from './outage.js';

/** Any number, the same on every node: two of them must not migrate at once. */
export const MIGRATION_LOCK = 7_305_197_442;
const ATTEMPTS = 100;
const FEW_ATTEMPTS = 20;
const ATTEMPT_INTERVAL_MS = 100;

/** Brings the schema up to date; may run on several nodes at once. Resolves to the names of what ran. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const { options } = dataSource;
  if (options.type !== 'postgres') return whenUnlocked(() => runMigrations(dataSource));
  // On connections of its own, one for the lock: a pool may have but one, and its statements are given
  // up sooner than a migration, or that of another node, may take.
  const own = createDataSource({ ...options, poolSize: 2, extra: {} });
  await own.initialize();
  try {
    return await withSessionLock(own, () => runMigrations(own));
  } finally {
    await own.destroy();
  }
}

async function runMigrations(dataSource: DataSource): Promise<string[]> {
  const ran = await dataSource.runMigrations();
  return ran.map(({ name }) => name);
}

/** The operator has to bring the schema up to date first. */
export class SchemaBehindError extends Error {
  constructor(pending: readonly string[]) {
    const owners = new Set(pending.map((migration) => ownerOf(migration).owner));
    const behind = Array.from(owners, (owner) =>
      owner === undefined ? 'this version' : `the extension ${owner}`,
    );
    super(`The database schema is behind ${behind.join(' and ')}: run "petstore migrate" first`);
  }
}

/**
 * Migrates the embedded default, which belongs to this one server, and another database where that is
 * wished. Resolves to the names of what ran.
 * @throws {SchemaBehindError} where it is not wished, and has to be
 */
export async function ensureSchema(dataSource: DataSource, mayMigrate: boolean): Promise<string[]> {
  if (mayMigrate || dataSource.options.type !== 'postgres') return migrate(dataSource);
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  if (pending.length > 0) throw new SchemaBehindError(pending.map(({ name }) => name));
  return [];
}

/** PostgreSQL's lock is bound to a session, which is held meanwhile. */
async function withSessionLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const session = dataSource.createQueryRunner();
  try {
    await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work();
  } finally {
    await session.release();
  }
}

/** SQLite locks the file by itself: who comes second finds the work done when it looks again. */
async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsWorth(error)) throw error;
      await setTimeout(ATTEMPT_INTERVAL_MS);
    }
  }
}

function attemptsWorth(error: unknown): number {
  if (isBusy(error)) return ATTEMPTS;
  // Of two migrations one may find the tables of the other, until it looks again.
  if (String(error).includes('already exists')) return FEW_ATTEMPTS;
  return 1;
}
