import type { Config } from '../config/config.js';
import { fileOf, migrationNames } from '../database/data-source-options.js';
import { type DatabaseFacts, readDatabaseFacts } from '../database/database-facts.js';
import { describeMigration } from '../database/extension-migrations.js';
import { schemaState } from '../database/schema-state.js';
import { SqliteFile } from '../database/sqlite/sqlite.file.js';
import { type Extension, migrationsOf } from '../extensions/define.js';
import { checkClock, failed, type Finding, ok, warning } from './doctor.findings.js';
import { explain } from './failure.js';

/** Checks the database, its schema and its clock. */
export async function checkDatabase(
  { databaseUrl }: Config,
  extensions: readonly Extension[],
): Promise<Finding[]> {
  const file = fileOf(databaseUrl);
  try {
    if (file !== undefined && !new SqliteFile(file).isThere()) {
      const fix = 'run petstore migrate or petstore serve to create it, or set DATABASE_URL';
      return [failed('database', `there is no database at ${file}`, fix)];
    }
    const facts = await readDatabaseFacts(databaseUrl);
    return [checkEngine(facts), checkSchema(facts, extensions), ...checkDatabaseClock(facts)];
  } catch (error) {
    const { reason, fix = 'set DATABASE_URL to another database' } = explain(error);
    return [failed('database', reason, fix)];
  }
}

function checkEngine({ engine, version, damage }: DatabaseFacts): Finding {
  if (damage === undefined) return ok('database', `${engine} ${version}`);
  const fix = 'stop the server, keep a copy of the file, and run petstore restore BACKUP';
  return failed('database', `the file is damaged: ${damage}`, fix);
}

function checkSchema(
  { engine, migrations, canCreate }: DatabaseFacts,
  extensions: readonly Extension[],
): Finding {
  const known = migrationNames(migrationsOf(extensions));
  const { behind, ahead, foreign } = schemaState(migrations, known);
  const names = (list: string[]): string => list.map(describeMigration).join(', ');
  if (ahead.length > 0) {
    const fix = 'run the version that created it, or the release directly before that';
    return warning('schema', `newer than this version: ${names(ahead)}`, fix);
  }
  if (behind.length > 0) {
    const severity = engine === 'SQLite' ? warning : failed;
    const fix =
      canCreate === false
        ? 'run petstore migrate as a role that may create tables in the schema, or GRANT CREATE'
        : 'run petstore migrate';
    return severity('schema', `pending migrations: ${names(behind)}`, fix);
  }
  if (foreign.length > 0) {
    const fix = 'add these extensions to petstore.config.js if they are still in use';
    return warning('schema', `migrations of unknown extensions: ${names(foreign)}`, fix);
  }
  return ok('schema', `up to date, ${known.length} migration${known.length === 1 ? '' : 's'}`);
}

function checkDatabaseClock({ clockAheadMs, latestMs }: DatabaseFacts): Finding[] {
  if (clockAheadMs !== undefined) return [checkClock('the clock of the database', clockAheadMs)];
  if (latestMs === undefined) return [];
  // SQLite has no clock of its own. A write in the future shows that the clock of this machine was set back.
  return [checkClock('the latest write', Math.max(0, latestMs - Date.now()))];
}
