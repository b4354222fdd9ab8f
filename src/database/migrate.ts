import { setTimeout } from 'node:timers/promises';
import { type DataSource, MigrationExecutor } from 'typeorm';
import { createDataSource } from './data-source-options.js';
import { ownerOf } from './guest-migrations.js';
import { isBusy, isHeld } from './outage.js';
import { LOCK_DEADLINE_MS } from './sqlite/sqlite.writes.js';

/** Any number, the same on every node: two of them must not migrate at once. */
export const MIGRATION_LOCK = 7_305_197_442;
/** With the start of the process and the last try, which SQLite gives 3 s, still within 10 s. */
const PATIENCE_MS = 6_000;
/** With a table of somebody who migrates at the same time. */
const RACE_PATIENCE_MS = 2_000;
/** Lets through who has queued up behind a try. */
const PAUSE_MS = 250;
/** Whoever asks for a table queues behind a migration that waits for it: no request may notice. */
const LOCK_TIMEOUT_MS = 500;

/** Is told what a migration waits for. */
export type Tell = (what: string) => void;

/** Brings the schema up to date; may run on several nodes at once. Resolves to the names of what ran. */
export async function migrate(
  dataSource: DataSource,
  tell: Tell = () => undefined,
): Promise<string[]> {
  const { options } = dataSource;
  if (options.type !== 'postgres') {
    return whenMigratable(() => runMigrations(dataSource), patienceOnSqlite, tell);
  }
  // On connections of its own, one for the lock: a pool may have but one, and its statements are given
  // up sooner than a migration, or that of another node, may take.
  const extra = { lock_timeout: LOCK_TIMEOUT_MS };
  const own = createDataSource({ ...options, poolSize: 2, extra });
  await own.initialize();
  try {
    return await withSessionLock(own, tell, () =>
      whenMigratable(() => runMigrations(own), patienceOnPostgres, tell),
    );
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

/** Somebody else is in the way for longer than is waited. */
export class SchemaInUseError extends Error {
  constructor(cause: unknown) {
    super(
      'The database schema cannot be changed while others use it for so long, as a backup or a long query does: ' +
        'run "petstore migrate" once they are done',
      { cause },
    );
  }
}

/**
 * Migrates the embedded default, which belongs to this one server, and another database where that is
 * wished. Resolves to the names of what ran.
 * @throws {SchemaBehindError} where it is not wished, and has to be
 */
export async function ensureSchema(
  dataSource: DataSource,
  mayMigrate: boolean,
  tell: Tell,
): Promise<string[]> {
  if (mayMigrate || dataSource.options.type !== 'postgres') return migrate(dataSource, tell);
  const pending = await new MigrationExecutor(dataSource).getPendingMigrations();
  if (pending.length > 0) throw new SchemaBehindError(pending.map(({ name }) => name));
  return [];
}

/** PostgreSQL's lock is bound to a session, which is held meanwhile. However long another node takes, it is at work. */
async function withSessionLock<T>(
  dataSource: DataSource,
  tell: Tell,
  work: () => Promise<T>,
): Promise<T> {
  const session = dataSource.createQueryRunner();
  try {
    const [{ isOurs }] = (await session.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [
      MIGRATION_LOCK,
    ])) as [{ isOurs: boolean }];
    if (!isOurs) {
      tell('Another process migrates the database: waiting for it');
      await session.query('SET lock_timeout = 0');
      await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    }
    return await work();
  } finally {
    await session.release();
  }
}

/** Tries until nobody is in the way. Who comes second finds the work done when it looks again. */
async function whenMigratable<T>(
  work: () => Promise<T>,
  patienceMsWith: (error: unknown) => number,
  tell: Tell,
): Promise<T> {
  let waitedMs = 0;
  let isTold = false;
  for (;;) {
    const triedAtMs = performance.now();
    try {
      return await work();
    } catch (error) {
      const isInUse = isBusy(error) || isHeld(error);
      // What a try has done before it had to wait is not waiting.
      const longestMs = isHeld(error) ? LOCK_TIMEOUT_MS : LOCK_DEADLINE_MS;
      waitedMs += Math.min(performance.now() - triedAtMs, longestMs) + PAUSE_MS;
      if (waitedMs >= patienceMsWith(error)) {
        throw isInUse ? new SchemaInUseError(error) : error;
      }
      if (isInUse && !isTold) tell('Others use what the migration changes: trying again');
      isTold ||= isInUse;
      await setTimeout(PAUSE_MS);
    }
  }
}

function patienceOnPostgres(error: unknown): number {
  return isHeld(error) ? PATIENCE_MS : 0;
}

/** It locks the file by itself. */
function patienceOnSqlite(error: unknown): number {
  if (isBusy(error)) return PATIENCE_MS;
  // Of two migrations one may find the tables of the other, until it looks again.
  return String(error).includes('already exists') ? RACE_PATIENCE_MS : 0;
}
