import { createReadStream, existsSync, lstatSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { loadConfig } from '../core/config/config.js';
import { explained } from '../core/config/fixes.js';
import { fileOf } from '../core/database/data-source-options.js';
import { migrationNames } from '../core/database/extension-migrations.js';
import { backupDatabase, restoreDatabase } from '../core/database/sqlite/sqlite.copy.js';
import { isPartOf } from '../core/database/sqlite/sqlite.file.js';
import { migrationsOf } from '../extensions/define.js';
import { loadAllExtensions } from '../built-in.js';
import type { CommonOptions, Result } from './add-command.js';
import { confirm, isInteractive } from './confirmation.js';
import { assertDatabaseExists } from './operator.js';
import type { Output } from './output.js';

/** `petstore backup FILE` */
export async function backup(
  path: string,
  options: CommonOptions,
  output: Output,
): Promise<Result | void> {
  await loadAllExtensions(options);
  const database = embeddedDatabase('pg_dump');
  assertDatabaseExists(database);
  if (path === '-') return backupToOutput(database, output);
  // A link stays, and the file behind it is replaced.
  const file = existsSync(path) ? realpathSync(path) : path;
  await explained('backup', file, () => assertMayWrite(file, database, options.yes));
  await explained('backup', file, () => backupDatabase(database, file));
  const { size: bytes } = statSync(file);
  const value = { file: resolve(file), bytes };
  return { value, text: `Wrote ${bytes} bytes to ${file}.` };
}

/** Through a file beside the database, since its size may exceed the memory. */
async function backupToOutput(database: string, output: Output): Promise<void> {
  if (output.isTerminal) {
    throw new Error('standard output is a terminal; redirect it: petstore backup - > FILE');
  }
  const file = `${database}.backup-${process.pid}`;
  try {
    await explained('sqlite', database, () => backupDatabase(database, file));
    const { size } = statSync(file);
    const isWritten = await output.pipe(createReadStream(file));
    if (isWritten) output.note(`Wrote ${size} bytes to standard output.`);
  } finally {
    rmSync(file, { force: true });
  }
}

/** `petstore restore FILE` */
export async function restore(file: string, options: CommonOptions): Promise<Result> {
  const { extensions } = await loadAllExtensions(options);
  const database = embeddedDatabase('pg_restore');
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) throw new Error(`there is no file ${file}`);
  if (!found.isFile()) throw new Error(`${file} is not a file`);
  if (existsSync(database)) {
    if (realpathSync(file) === realpathSync(database)) throw new Error(`${file} is the database`);
    assertDatabaseExists(database);
    await confirm(`Replace the database ${database} and lose its data?`, options.yes);
  }
  const ran = await explained('sqlite', database, () => restoreDatabase(file, database));
  const known = migrationNames(migrationsOf(extensions));
  const pending = known.filter((name) => !ran.includes(name));
  let text = `Restored ${database} from ${file}.`;
  if (pending.length > 0) text += ' Its schema is outdated: run petstore migrate.';
  // Of a newer release, or of an extension. A start accepts them.
  if (ran.some((name) => !known.includes(name))) {
    text += ' It has unknown migrations: run petstore doctor.';
  }
  return { value: { database: resolve(database), from: resolve(file), pending }, text };
}

/** @throws on PostgreSQL, whose own tool is named */
function embeddedDatabase(postgresTool: string): string {
  const database = fileOf(loadConfig().databaseUrl);
  if (database !== undefined) return database;
  throw new Error(`this command is for SQLite; use ${postgresTool} for PostgreSQL`);
}

/** A script has to pass `--yes` to overwrite a file. */
async function assertMayWrite(file: string, database: string, yes?: boolean): Promise<void> {
  if (!existsSync(dirname(file))) throw new Error(`there is no directory ${dirname(file)}`);
  if (isPartOf(file, database)) {
    throw new Error(`${file} is part of the database; choose another file`);
  }
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  if (!existsSync(file)) throw new Error(`${file} is a link to a file that does not exist`);
  if (!statSync(file).isFile()) throw new Error(`${file} is not a file`);
  if (!yes && !isInteractive()) throw new Error(`${file} exists; use --yes to overwrite it`);
  await confirm(`Overwrite ${file}?`, yes);
}
