import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { SchemaState } from '../database/schema-state.js';
import * as parse from './arguments.js';
import { addCommand, type CommonOptions, loadExtensions } from './common-options.js';
import { confirm, isInteractive } from './confirmation.js';
import type { Output } from './output.js';

type BackupOptions = CommonOptions & { yes?: true };

/** Adds `petstore backup FILE` and `petstore restore FILE`. */
export function addBackupCommands(program: Command, output: Output): void {
  addCommand(program, 'backup', 'copy the SQLite database to a file, also while the server runs', [
    'backup /var/backups/petstore.db',
    'backup "petstore-$(date +%F).db"',
  ])
    .argument('<file>', 'file to write, readable only by its owner', parse.file)
    .option('--yes', 'overwrite the file without confirmation, whatever it is')
    .action((file: string, options: BackupOptions) => backup(file, options, output));

  addCommand(
    program,
    'restore',
    'replace the SQLite database with a backup; stop the server first',
    ['restore /var/backups/petstore.db'],
  )
    .argument('<file>', 'a file that petstore backup wrote', parse.file)
    .option('--yes', 'do not ask for confirmation')
    .action((file: string, options: BackupOptions) => restore(file, options, output));
}

async function backup(file: string, options: BackupOptions, output: Output): Promise<void> {
  const [{ assertDatabaseExists }, copies, { withProgress }] = await Promise.all([
    import('./operator.js'),
    import('../database/sqlite/sqlite.copy.js'),
    import('./progress.js'),
  ]);
  const { database } = await openEmbedded(options, 'pg_dump');
  assertDatabaseExists(database);
  copies.assertUnused(file);
  await assertMayWrite(file, database, options.yes);
  await withProgress(100, (update) =>
    copies.backupDatabase(database, file, (share) => update(share * 100)),
  );
  const { size } = statSync(file);
  output.print(
    { file: resolve(file), bytes: size },
    options.json,
    () => `Wrote ${size} bytes to ${file}.`,
  );
}

async function restore(file: string, options: BackupOptions, output: Output): Promise<void> {
  const [{ restoreDatabase }, { withProgress }] = await Promise.all([
    import('../database/sqlite/sqlite.copy.js'),
    import('./progress.js'),
  ]);
  const { database, schemaOf } = await openEmbedded(options, 'pg_restore');
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file ${file}`);
  if (!found.isFile()) throw new Error(`${file} is not a file`);
  if (existsSync(database)) {
    await confirm(`Replace the database ${database} and lose its data?`, options.yes);
  }
  await withProgress(100, (update) =>
    restoreDatabase(file, database, (share) => update(share * 100)),
  );
  const { behind: pending, ahead } = schemaOf(database);
  const notes = [
    ...(pending.length > 0 ? ['Its schema is older: run petstore migrate.'] : []),
    ...(ahead.length > 0 ? ['Its schema is newer: only the previous release can serve it.'] : []),
  ];
  const result = { database: resolve(database), from: resolve(file), pending };
  output.print(result, options.json, () =>
    [`Restored ${database} from ${file}.`, ...notes].join(' '),
  );
}

/**
 * The path of the embedded database, and a function that reads the schema of a file.
 * @throws on PostgreSQL, whose own tool is named
 */
async function openEmbedded(options: CommonOptions, postgresTool: string) {
  const [{ loadConfig }, sources, { schemaState }, { migrationsOf }, copies] = await Promise.all([
    import('../config/config.js'),
    import('../database/data-source-options.js'),
    import('../database/schema-state.js'),
    import('../extensions/define.js'),
    import('../database/sqlite/sqlite.copy.js'),
  ]);
  const database = sources.fileOf(loadConfig().databaseUrl);
  if (database === undefined) {
    throw new Error(`this command is for SQLite; use ${postgresTool} for PostgreSQL`);
  }
  const { extensions } = await loadExtensions(options);
  const known = sources.migrationNames(migrationsOf(extensions));
  const schemaOf = (path: string): SchemaState => schemaState(copies.migrationsIn(path), known);
  return { database, schemaOf };
}

/** A script has to pass `--yes` to overwrite a file. */
async function assertMayWrite(
  file: string,
  database: string,
  yes: boolean | undefined,
): Promise<void> {
  if (!existsSync(dirname(file))) throw new Error(`there is no directory ${dirname(file)}`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isFile()) throw new Error(`${file} is not a file`);
  if (realpathSync(file) === realpathSync(database)) {
    throw new Error(`${file} is the database itself`);
  }
  if (!yes && !isInteractive()) throw new Error(`${file} exists; use --yes to overwrite it`);
  await confirm(`Overwrite ${file}?`, yes);
}
