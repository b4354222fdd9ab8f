import { existsSync } from 'node:fs';
import { CommanderError } from 'commander';
import { loadAllExtensions } from '../built-in.js';
import { loadConfig } from '../core/config/config.js';
import { ExplainedError } from '../core/config/fixes.js';
import { databaseFault, withHost } from '../core/config/urls.js';
import { connect } from '../core/database/connect.js';
import {
  createDataSource,
  dataSourceOptions,
  fileOf,
} from '../core/database/data-source-options.js';
import { isDamaged } from '../core/database/database-error.js';
import {
  describeMigration,
  type ExtensionMigrations,
  migrationNames,
} from '../core/database/extension-migrations.js';
import { migrate, migrationsThatRan } from '../core/database/migrate.js';
import { identityOf, isPartOf } from '../core/database/sqlite/sqlite.file.js';
import { SqliteTransfer } from '../core/database/sqlite/sqlite.transfer.js';
import { transfer, type TransferEnd } from '../core/database/transfer.js';
import { checkExtensions } from '../extensions/check.js';
import { migrationsOf } from '../extensions/define.js';
import type { CommonOptions, Result } from './add-command.js';
import { explain, reasonOf } from './failure.js';
import { assertDatabaseExists } from './operator.js';
import { type Output, table } from './output.js';

const STOP_WRITES =
  'The servers of the source must be stopped: what they write from now on is not copied.';

const OTHER_TARGET = 'set --to to another file, or move that file away';

/** `petstore copy --to DATABASE_URL` */
export async function copy(
  options: CommonOptions & { to: string },
  output: Output,
): Promise<Result> {
  const { to } = options;
  const known = await loadAllExtensions(options);
  checkExtensions(known.extensions, known);
  const { databaseUrl: from } = loadConfig();
  assertTarget(from, to);
  const migrations = migrationsOf(known.extensions);
  const ends: TransferEnd[] = [];
  // The setting that a fault belongs to.
  let setting = 'DATABASE_URL';
  try {
    assertDatabaseExists(fileOf(from));
    await open(from, 'source', migrations, ends);
    if (fileOf(from) === undefined) output.note(STOP_WRITES);
    setting = '--to';
    const before = await open(to, 'target', migrations, ends);
    setting = 'DATABASE_URL or --to';
    const [source, target] = ends as [TransferEnd, TransferEnd];
    const value = await transfer(source, target, before, (text) => output.progress(text));
    const rows = value.tables.map((each) => [each.table, each.source, each.target]);
    const notes = value.notCopied.map((name) => `Not copied: ${name}, which no migration creates.`);
    return { value, text: [table('TABLE,SOURCE,TARGET', rows), ...notes].join('\n') };
  } catch (error) {
    const urls = setting === 'DATABASE_URL' ? [from] : [to, from];
    const explained = urls.reduce<unknown>(
      (cause, databaseUrl) => explain(cause, { databaseUrl }, []),
      error,
    ) as Error;
    const { cause = explained } = explained;
    if (setting !== 'DATABASE_URL' && isDamaged(cause)) {
      const check = setting === '--to' ? '' : 'if petstore doctor finds no fault, ';
      throw new ExplainedError(reasonOf(cause), check + OTHER_TARGET, cause);
    }
    explained.message = explained.message.replaceAll('DATABASE_URL', setting);
    throw explained;
  } finally {
    output.progress('');
    for (const end of ends) await end.close();
  }
}

/** @throws {CommanderError} if the target cannot be a database, or is part of the source */
function assertTarget(from: string, to: string): void {
  const fault =
    databaseFault(to) ?? (isPartOfSource(from, to) ? 'is the source, or part of it' : undefined);
  if (fault === undefined) return;
  throw new CommanderError(2, 'petstore.copy', `error: --to ${fault}`);
}

function isPartOfSource(from: string, to: string): boolean {
  const [source, target] = [fileOf(from), fileOf(to)];
  if (source !== undefined && target !== undefined) {
    if (!existsSync(source)) return false;
    return isPartOf(target, source) || identityOf(target) === identityOf(source);
  }
  const [one, other] = [from, to].map((url) => new URL(withHost(url)));
  return one!.host + one!.pathname === other!.host + other!.pathname;
}

/**
 * Opens a database after the checks of a start. The target is migrated. Both must have the schema
 * of the extensions, or rows might be left behind.
 * @param ends receives the open database
 * @returns the tables before the migration
 */
async function open(
  url: string,
  role: 'source' | 'target',
  migrations: readonly ExtensionMigrations[],
  ends: TransferEnd[],
): Promise<ReadonlySet<string>> {
  const dataSource = await connect(await createDataSource(dataSourceOptions(url, migrations)));
  try {
    const end = await endOf(url);
    ends.push(end);
    const before = await end.tables();
    if (role === 'target') await migrate(dataSource);
    const ran = await migrationsThatRan(dataSource);
    const names = migrationNames(migrations);
    const differences = [
      ['lacks', names.filter((name) => !ran.includes(name)), 'run petstore migrate'],
      [
        'has',
        ran.filter((name) => !names.includes(name)),
        'add its extension to the configuration',
      ],
    ] as const;
    for (const [verb, found, fix] of differences) {
      if (found.length === 0) continue;
      const list = found.map(describeMigration).join(', ');
      throw new Error(`the schema of the ${role} ${verb} ${list}; ${fix} first`);
    }
    return new Set(before.keys());
  } finally {
    await dataSource.destroy();
  }
}

async function endOf(url: string): Promise<TransferEnd> {
  const file = fileOf(url);
  if (file !== undefined) return new SqliteTransfer(file);
  const { PostgresTransfer } = await import('../core/database/postgres/postgres.transfer.js');
  return PostgresTransfer.connect(url);
}
