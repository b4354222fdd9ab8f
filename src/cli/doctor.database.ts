import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { Config } from '../core/config/config.js';
import { explainAt, ExplainedError } from '../core/config/fixes.js';
import { connect } from '../core/database/connect.js';
import {
  createDataSource,
  dataSourceOptions,
  fileOf,
} from '../core/database/data-source-options.js';
import { databaseNow, NOW } from '../core/database/database-time.js';
import { describeMigration, migrationNames } from '../core/database/extension-migrations.js';
import { migrationsThatRan } from '../core/database/migrate.js';
import { databaseError, driverErrorOf } from '../core/database/database-error.js';
import {
  type KeySequence,
  SEQUENCES,
  sequencesOf,
  setSequence,
} from '../core/database/sequences.js';
import { assertNotForeign } from '../core/database/sqlite/sqlite.copy.js';
import { assertLockable, assertNotMoved } from '../core/database/sqlite/sqlite.file.js';
import { quoted } from '../core/database/transfer.js';
import { type Extension, migrationsOf } from '../extensions/define.js';
import { plansInUse } from '../core/keys/key-cache.js';
import { type OwnPlans, Plans } from '../core/rate-limits/plan.js';
import { checkClock, failed, type Finding, ok, warning } from './doctor.findings.js';

/** With less free space, the next writes may fail. */
const MIN_FREE_BYTES = 1_000_000;

/**
 * Checks the database, its schema and its clock, and changes nothing.
 * @param entities of the service and its extensions
 */
export async function checkDatabase(
  { databaseUrl: url }: Config,
  { extensions, plans }: { extensions: readonly Extension[]; plans?: OwnPlans | undefined },
  entities: readonly EntityMetadata[],
): Promise<Finding[]> {
  const file = fileOf(url);
  const known = migrationNames(migrationsOf(extensions));
  let dataSource: DataSource | undefined;
  try {
    if (file !== undefined) assertInPlace(file);
    dataSource = await (file === undefined
      ? connect(await createDataSource(dataSourceOptions(url)))
      : new DataSource({ type: 'better-sqlite3', database: file }).initialize());
    const findings = await (file === undefined
      ? checkPostgres(dataSource, entities)
      : checkSqlite(dataSource, file));
    const ran = await migrationsThatRan(dataSource);
    const schema = checkSchema(ran, known, file !== undefined);
    // Without a migration, there are no tables.
    if (ran.length === 0) return [schema, ...findings];
    const missing = schema.status === 'ok' ? await checkTables(dataSource, entities) : [];
    if (missing.length > 0) return [...missing, ...findings];
    return [schema, ...findings, ...(await checkPlans(dataSource, new Plans(plans)))];
  } catch (error) {
    const place = file === undefined ? 'postgres' : 'sqlite';
    const { reason, fix } = explainAt(place, driverErrorOf(error), file, 'check DATABASE_URL');
    return [failed('database', reason, fix)];
  } finally {
    await dataSource?.destroy();
  }
}

/** Opening a missing file would create it. */
function assertInPlace(file: string): void {
  assertNotMoved(file);
  if (existsSync(file)) return assertLockable(file);
  accessSync(`${existingFolderOf(file)}/`, constants.W_OK | constants.X_OK);
  const fix = 'run petstore migrate or petstore serve to create it, or set DATABASE_URL';
  throw new ExplainedError(`there is no database at ${file}`, fix);
}

async function checkPostgres(
  dataSource: DataSource,
  entities: readonly EntityMetadata[],
): Promise<Finding[]> {
  const [{ version, nowMs, readOnly, off }] = await dataSource.query<
    [{ version: string; nowMs: string; readOnly: string; off: string | null }]
  >(`SELECT current_setting('server_version') AS version, ${NOW.postgres} AS "nowMs",
      current_setting('transaction_read_only') AS "readOnly",
      (SELECT string_agg(name, ' and ') FROM pg_settings
        WHERE name IN ('fsync', 'full_page_writes') AND setting = 'off') AS off`);
  // Also on a standby.
  if (readOnly === 'on') throw databaseError('25006', 'PostgreSQL is read-only');
  const clock = checkClock('database clock', Number(nowMs) - Date.now());
  const tables = entities.map(({ tableName }) => tableName);
  const missing = await missingRights(dataSource, tables);
  const faults = missing.length > 0 ? [] : await checkSequences(dataSource, tables);
  if (off !== null) {
    const detail = `a power failure can damage PostgreSQL: ${off} is off`;
    faults.push(failed('database', detail, `turn ${off} on in postgresql.conf`));
  }
  if (missing.length > 0) {
    const detail = `the role in DATABASE_URL lacks ${missing.join(', ')}`;
    faults.push(failed('database', detail, 'grant the rights that docs/operating.md lists'));
  }
  return [...(faults.length > 0 ? faults : [ok('database', `PostgreSQL ${version}`)]), clock];
}

/** The rights on tables of the service and its extensions that the role lacks. */
async function missingRights(dataSource: DataSource, tables: string[]): Promise<string[]> {
  const rows = await dataSource.query<{ missing: string }[]>(
    `SELECT string_agg(privilege, ', ') || ' on ' || name AS missing
      FROM unnest($1::text[]) name, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) privilege
      WHERE NOT has_table_privilege(to_regclass(quote_ident(name)), privilege) GROUP BY name`,
    [tables],
  );
  return rows.map(({ missing }) => missing);
}

/** Rows that were copied with their keys leave the sequence behind: the next inserts fail. */
async function checkSequences(dataSource: DataSource, tables: string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  const parameters = sequencesOf(tables);
  const sequences = await dataSource.query<KeySequence[]>(SEQUENCES, parameters);
  for (const { table, column, sequence, isOwned, canRead, isPrimary } of sequences) {
    if (!isPrimary) continue;
    const key = `${table}.${column}`;
    if (!isOwned) {
      const fix = `ALTER SEQUENCE ${sequence} OWNED BY "${table}"."${column}"`;
      findings.push(failed('sequences', `the sequence ${sequence} is not owned by ${key}`, fix));
    }
    if (!canRead) continue;
    const [{ isBehind }] = await dataSource.query<[{ isBehind: boolean | null }]>(
      `SELECT (SELECT max("${column}") FROM "${table}") >= last_value + is_called::int
        AS "isBehind" FROM ${sequence}`,
    );
    if (!isBehind) continue;
    const detail = `the sequence ${sequence} is behind ${key}, so that inserts fail`;
    findings.push(failed('sequences', detail, setSequence(table, column, `'${sequence}'`)));
  }
  return findings;
}

/** Reports tables and columns that are missing although their migrations ran. */
async function checkTables(
  dataSource: DataSource,
  entities: readonly EntityMetadata[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { tableName, columns } of entities) {
    const table = quoted(tableName);
    const stored = columns.filter(({ isVirtualProperty }) => !isVirtualProperty);
    const names = stored.map(({ databaseName }) => `${table}.${quoted(databaseName)}`);
    try {
      await dataSource.query(`SELECT ${names.join()} FROM ${table} LIMIT 0`);
    } catch (error) {
      // Class 42 of PostgreSQL: a name or a right is missing.
      if (!/^(?:42...|SQLITE_ERROR)$/.test(String(driverErrorOf(error).code))) throw error;
      const otherwise = 'restore a backup, or add what is missing';
      const { reason, fix } = explainAt('postgres', driverErrorOf(error), '', otherwise);
      findings.push(failed('schema', reason, fix));
    }
  }
  return findings;
}

async function checkSqlite(dataSource: DataSource, file: string): Promise<Finding[]> {
  assertNotForeign(file);
  // A write, which the permissions of the file may not allow.
  for (const text of ['BEGIN IMMEDIATE', 'PRAGMA user_version = 0', 'ROLLBACK']) {
    await dataSource.query(text);
  }
  // The write above stays in memory: nothing is committed.
  const { bavail, bsize } = statfsSync(dirname(file));
  if (bavail * bsize < MIN_FREE_BYTES) {
    throw Object.assign(new Error('less than 1 MB of the disk is free'), { code: 'SQLITE_FULL' });
  }
  // Checks every page, but not the order of the indexes, which would take much longer.
  const [{ version, fault }] = await dataSource.query<[{ version: string; fault: string }]>(
    'SELECT sqlite_version() AS version, quick_check AS fault FROM pragma_quick_check LIMIT 1',
  );
  if (fault !== 'ok') {
    throw Object.assign(new Error(`the file is damaged: ${fault}`), { code: 'SQLITE_CORRUPT' });
  }
  // SQLite has no clock, but its file has the time of the latest write.
  const aheadMs = Math.floor(statSync(file).mtimeMs) - Date.now();
  const notAhead = ok('clock', 'no timestamps in the future');
  const clock = aheadMs > 0 ? checkClock('latest write', aheadMs) : notAhead;
  return [ok('database', `SQLite ${version}`), clock];
}

/** A start stops on keys of a plan that was removed. */
async function checkPlans(dataSource: DataSource, { names }: Plans): Promise<Finding[]> {
  const rows = await dataSource.query<{ plan: string }[]>(plansInUse(databaseNow(dataSource)));
  return rows
    .filter(({ plan }) => !names.includes(plan))
    .map(({ plan }) => {
      const detail = `keys have the plan ${plan}, which does not exist`;
      return failed(
        'plans',
        detail,
        `add ${plan} to the plans of petstore.config.js, or change the keys with petstore keys set-plan`,
      );
    });
}

function checkSchema(ran: readonly string[], known: readonly string[], isSqlite: boolean): Finding {
  const behind = known.filter((name) => !ran.includes(name));
  const unknown = ran.filter((name) => !known.includes(name));
  const names = (list: string[]) => list.map(describeMigration).join(', ');
  if (behind.length > 0) {
    const detail = `pending migrations: ${names(behind)}`;
    if (isSqlite) return warning('schema', detail, 'run petstore migrate, or start the server');
    return failed('schema', detail, 'run petstore migrate, with a role that may create tables');
  }
  if (unknown.length > 0) {
    const fix = 'add their extension to petstore.config.js, unless a newer release created them';
    return warning('schema', `unknown migrations: ${names(unknown)}`, fix);
  }
  return ok('schema', `up to date, migrations: ${known.length}`);
}

/** The folder of a file, or the nearest one above it that exists. It may be a file itself. */
function existingFolderOf(file: string): string {
  const folder = dirname(resolve(file));
  // A link to nothing exists as well.
  const isThere = lstatSync(folder, { throwIfNoEntry: false }) !== undefined;
  return isThere ? folder : existingFolderOf(folder);
}
