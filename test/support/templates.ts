import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withBuiltIn } from '../../src/built-in.js';
import {
  createDataSource,
  dataSourceOptions,
} from '../../src/core/database/data-source-options.js';
import { migrate } from '../../src/core/database/migrate.js';
import { migrationsOf } from '../../src/extensions/define.js';
import { findEngine } from './engines.js';
import { createDatabase, PostgresServer } from './postgres.js';

const TEMPLATE = 'petstore_template';

/**
 * Creates a migrated database for each engine and announces it in the environment, which Jest's
 * workers inherit.
 * @returns removes them
 */
export async function createTemplates(withPostgres: boolean): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-templates-'));
  process.env['TEST_TEMPLATE_FILE'] = join(directory, 'petstore.db');
  await migrateDatabase(`sqlite:${process.env['TEST_TEMPLATE_FILE']}`);
  const initdb = withPostgres ? findEngine('postgres') : undefined;
  const server = initdb === undefined ? undefined : await PostgresServer.start(initdb);
  if (server !== undefined) {
    await server.query(`CREATE DATABASE ${TEMPLATE}`);
    await migrateDatabase(server.url.replace(/postgres$/, TEMPLATE));
    process.env['TEST_POSTGRES_URL'] = server.url;
  }
  return async () => {
    await server?.remove();
    rmSync(directory, { recursive: true, force: true });
  };
}

/** A migrated database: a copy of the template. */
export async function copyOfTemplate(directory: string): Promise<string> {
  const { TEST_POSTGRES_URL, TEST_TEMPLATE_FILE } = process.env;
  if (TEST_POSTGRES_URL !== undefined) return createDatabase(TEST_POSTGRES_URL, TEMPLATE);
  const file = join(directory, 'petstore.db');
  if (TEST_TEMPLATE_FILE !== undefined) copyFileSync(TEST_TEMPLATE_FILE, file);
  return `sqlite:${file}`;
}

async function migrateDatabase(url: string): Promise<void> {
  const options = dataSourceOptions(url, migrationsOf(withBuiltIn([])));
  const dataSource = await (await createDataSource(options)).initialize();
  await migrate(dataSource);
  await dataSource.destroy();
}
