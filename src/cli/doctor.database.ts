import { existsSync } from 'node:fs';
import type { Config } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { type DatabaseFacts, readDatabaseFacts } from '../database/database-facts.js';
import { describeMigration, migrationNames, ownerOf } from '../database/extension-migrations.js';
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
    return [
      ok('database', `${facts.engine} ${facts.version}`),
      checkSchema(facts, extensions),
      facts.engine === 'SQLite' && facts.aheadMs === 0
        ? ok('clock', 'no write is in the future')
        : checkClock(facts.clock, facts.aheadMs),
    ];
  } catch (error) {
    const { reason, fix = 'check DATABASE_URL and its permissions' } = explain(error);
    return [failed('database', reason, fix)];
  }
}

function checkSchema(
  { engine, migrations, mayMigrate }: DatabaseFacts,
  extensions: readonly Extension[],
): Finding {
  const known = migrationNames(migrationsOf(extensions));
  const behind = known.filter((name) => !migrations.includes(name));
  const unknown = migrations.filter((name) => !known.includes(name));
  const ahead = unknown.filter((name) => ownerOf(name).owner === undefined);
  const names = (list: string[]): string => list.map(describeMigration).join(', ');
  if (ahead.length > 0) {
    const fix = 'run the version that created it, or the release directly before that';
    return warning('schema', `newer than this version: ${names(ahead)}`, fix);
  }
  if (behind.length > 0) {
    const severity = engine === 'SQLite' ? warning : failed;
    const fix = mayMigrate
      ? 'run petstore migrate'
      : 'run petstore migrate as a role that may create tables in the schema, or GRANT CREATE';
    return severity('schema', `pending migrations: ${names(behind)}`, fix);
  }
  if (unknown.length > 0) {
    const fix = 'add these extensions to petstore.config.js if they are still in use';
    return warning('schema', `migrations of unknown extensions: ${names(unknown)}`, fix);
  }
  return ok('schema', `up to date, ${known.length} migration${known.length === 1 ? '' : 's'}`);
}
