import { existsSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../config/config.js';
import { fileOf } from '../database/data-source-options.js';
import { backupDatabase, restoreDatabase } from '../database/sqlite/sqlite.copy.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm, isInteractive } from './confirmation.js';
import { assertDatabaseExists } from './operator.js';

type BackupOptions = CommonOptions & { yes?: true };

/** `petstore backup FILE` */
export async function backup(file: string, options: BackupOptions): Promise<Result> {
  const database = embeddedDatabase('pg_dump');
  assertDatabaseExists(database);
  await assertMayWrite(file, database, options.yes);
  backupDatabase(database, file);
  const { size: bytes } = statSync(file);
  const value = { file: resolve(file), bytes };
  return { value, text: `Wrote ${bytes} bytes to ${file}.` };
}

/** `petstore restore FILE` */
export async function restore(file: string, options: BackupOptions): Promise<Result> {
  const database = embeddedDatabase('pg_restore');
  assertIsFile(file);
  if (existsSync(database)) {
    await confirm(`Replace the database ${database} and lose its data?`, options.yes);
  }
  restoreDatabase(file, database);
  const value = { database: resolve(database), from: resolve(file) };
  return { value, text: `Restored ${database} from ${file}.` };
}

/** @throws on PostgreSQL, whose own tool is named */
function embeddedDatabase(postgresTool: string): string {
  const database = fileOf(loadConfig().databaseUrl);
  if (database !== undefined) return database;
  throw new Error(`this command is for SQLite; use ${postgresTool} for PostgreSQL`);
}

/** A script has to pass `--yes` to overwrite a file. */
async function assertMayWrite(file: string, database: string, yes?: boolean): Promise<void> {
  if (!existsSync(file)) return;
  if (realpathSync(file) === realpathSync(database)) {
    throw new Error(`${file} is the database; choose another file`);
  }
  assertIsFile(file);
  if (!yes && !isInteractive()) throw new Error(`${file} exists; use --yes to overwrite it`);
  await confirm(`Overwrite ${file}?`, yes);
}

function assertIsFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  throw new Error(`${path} is not a file`);
}
