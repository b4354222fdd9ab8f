import { existsSync } from 'node:fs';
import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { readDatabaseFacts } from '../database/database-facts.js';
import { describeMigration, migrationNames } from '../database/extension-migrations.js';
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
    if (file !== undefined && !existsSync(file)) {
      const fix = 'run petstore migrate or petstore serve to create it, or set DATABASE_URL';
      return [failed('database', `there is no database at ${file}`, fix)];
    }
    const facts = await readDatabaseFacts(databaseUrl);
    // On SQLite, serve migrates.
    const severity = file === undefined ? failed : warning;
    return [
      ok('database', facts.engine),
      checkSchema(facts.migrations, extensions, severity),
      file !== undefined && facts.aheadMs === 0
        ? ok('clock', 'no write is in the future')
        : checkClock(facts.clock, facts.aheadMs),
    ];
  } catch (error) {
    const { reason, fix = 'check DATABASE_URL and its permissions' } = explain(error);
    return [failed('database', reason, fix)];
  }
}

function checkSchema(
  migrations: readonly string[],
  extensions: readonly Extension[],
  severity: typeof failed,
): Finding {
  const known = migrationNames(migrationsOf(extensions));
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
