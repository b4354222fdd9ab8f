import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Command } from 'commander';
import type { SchemaState } from '../database/schema-state.js';
import { configured } from './config-file.js';
import { confirm, isTerminal } from './confirmation.js';
import type { Output } from './output.js';

/** As `docs/operating.md` promises of an upgrade that is taken back. */
const ONE_RELEASE_BACK = 'that is served by the release before it, and by none before that';

interface BackupOptions {
  yes?: true;
  json?: true;
}

/** `petstore backup FILE` */
export function backupCommand(output: Output): Command {
  return new Command('backup')
    .description('copy the SQLite database into a file, also while it is served')
    .argument('<file>', 'the file to write, for its owner alone')
    .option('--yes', 'overwrite the file, whatever it is, and do not ask')
    .option('--json', 'print JSON')
    .action(async (file: string, { yes, json }: BackupOptions) => {
      const [{ assertThere }, copies, { progressBar }] = await Promise.all([
        import('./operator.js'),
        import('../database/sqlite/sqlite.copy.js'),
        import('./progress.js'),
      ]);
      const { database, check, migrationsTable } = await embedded(
        'pg_dump, or base backups and archived WAL',
      );
      assertThere(database);
      const { assertUnused } = copies;
      const isBackup = (path: string): boolean => copies.isBackup(path, migrationsTable);
      await assertMayWrite(file, { database, assertUnused, isBackup, yes });
      // Else it would be found out by who needs it.
      check(database);
      const progress = progressBar(100);
      try {
        await copies.copyDatabase(database, file, (share) => progress.update(share * 100));
      } finally {
        progress.stop();
      }
      const { size } = statSync(file);
      output.print({ file: resolve(file), bytes: size }, json, `Wrote ${size} bytes to ${file}.`);
    });
}

/** `petstore restore FILE` */
export function restoreCommand(output: Output): Command {
  return new Command('restore')
    .description('put a backup in the place of the SQLite database; the server has to be stopped')
    .argument('<file>', 'what petstore backup has written')
    .option('--yes', 'do not ask')
    .option('--json', 'print JSON')
    .action(async (file: string, { yes, json }: BackupOptions) => {
      const [{ restoreDatabase }, { progressBar }] = await Promise.all([
        import('../database/sqlite/sqlite.restore.js'),
        import('./progress.js'),
      ]);
      const { database, check } = await embedded('pg_restore, or recovery to a point in time');
      const found = statSync(file, { throwIfNoEntry: false });
      if (found === undefined) throw new Error(`There is no file ${file}`);
      if (!found.isFile()) throw new Error(`${file} is not a file`);
      if (existsSync(database)) {
        await confirm(`Replace the database ${database}, and lose what it has?`, yes);
      }
      const progress = progressBar(100);
      try {
        await restoreDatabase(file, database, check, (share) => progress.update(share * 100));
      } finally {
        progress.stop();
      }
      const { behind: pending, ahead } = check(database);
      const notes = [
        ...(pending.length > 0 ? ['Its schema is of an earlier version: run migrate.'] : []),
        ...(ahead.length > 0 ? [`Its schema is of a later version: ${ONE_RELEASE_BACK}.`] : []),
      ];
      output.print(
        { database: resolve(database), from: resolve(file), pending },
        json,
        [`Restored ${database} from ${file}.`, ...notes].join(' '),
      );
    });
}

/**
 * The file of the database, and what tells of a file whether it is one that this program can work with.
 * @param otherwise how it is done with PostgreSQL
 */
async function embedded(otherwise: string) {
  const [{ loadConfig }, options, { schemaState }, { migrationsOf }, copies] = await Promise.all([
    import('../config/config.js'),
    import('../database/data-source-options.js'),
    import('../database/schema-state.js'),
    import('../extensions/define.js'),
    import('../database/sqlite/sqlite.copy.js'),
  ]);
  const { extensions } = await configured();
  const database = options.fileOf(loadConfig().databaseUrl);
  if (database === undefined) {
    throw new Error(`PostgreSQL has tools of its own for this: ${otherwise}`);
  }
  /** @throws {NotADatabaseError} */
  const check = (path: string): SchemaState => {
    const ran = copies.migrationsIn(path, options.MIGRATIONS_TABLE);
    return schemaState(ran, options.migrationNames(migrationsOf(extensions)));
  };
  return { database, check, migrationsTable: options.MIGRATIONS_TABLE };
}

interface Overwriting {
  database: string;
  assertUnused: (path: string) => void;
  isBackup: (path: string) => boolean;
  yes: boolean | undefined;
}

/**
 * A backup that there is already is asked about on a terminal, and replaced elsewhere, as every night by a
 * timer. What is none was hardly meant: it takes `--yes`. The database itself, or one that another server
 * uses, never is.
 */
async function assertMayWrite(file: string, overwriting: Overwriting): Promise<void> {
  const { database, assertUnused, isBackup, yes } = overwriting;
  const found = statSync(file, { throwIfNoEntry: false });
  if (!existsSync(dirname(file))) throw new Error(`There is no directory ${dirname(file)}`);
  if (found?.isFile() === false) throw new Error(`${file} is not a file`);
  if (found && realpathSync(file) === realpathSync(database)) {
    throw new Error(`${file} is the database itself`);
  }
  assertUnused(file);
  if (found === undefined) return;
  if (!isTerminal() && !yes && !isBackup(file)) {
    throw new Error(`${file} exists already, and is no backup; --yes overwrites it`);
  }
  await confirm(`Overwrite ${file}?`, yes);
}
