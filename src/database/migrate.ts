import { setTimeout } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { isBusy } from './outage.js';

/** Any number, the same on every node: two of them must not migrate at once. */
const MIGRATION_LOCK = 7_305_197_442;
const ATTEMPTS = 100;
const ATTEMPT_INTERVAL_MS = 100;

/** Brings the schema up to date; may run on several nodes at once. Resolves to the names of what ran. */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  return withMigrationLock(dataSource, async () => {
    const ran = await dataSource.runMigrations();
    return ran.map(({ name }) => name);
  });
}

/** Whether the schema is behind this version of the service. */
export function isSchemaBehind(dataSource: DataSource): Promise<boolean> {
  return dataSource.showMigrations();
}

/** PostgreSQL's lock is bound to a session, which is held meanwhile. */
async function withMigrationLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  if (dataSource.options.type !== 'postgres') return whenUnlocked(work);
  const session = dataSource.createQueryRunner();
  try {
    await session.query('SET statement_timeout = 0');
    await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    return await work();
  } finally {
    await session.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await session.query('RESET statement_timeout');
    await session.release();
  }
}

/** SQLite locks the file by itself: who comes second finds the work done when it looks again. */
async function whenUnlocked<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const otherIsMigrating = isBusy(error) || /already exists/.test(String(error));
      if (!otherIsMigrating || attempt === ATTEMPTS) throw error;
      await setTimeout(ATTEMPT_INTERVAL_MS);
    }
  }
}
