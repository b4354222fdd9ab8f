import type { DataSource } from 'typeorm';
import {
  createDataSource,
  dataSourceOptions,
} from '../../src/core/database/data-source-options.js';

export { migrate, MIGRATION_LOCK, migrationsThatRan } from '../../src/core/database/migrate.js';

/** Connects to a database as the service does, without migrating it. */
export async function connectTo(
  ...options: Parameters<typeof dataSourceOptions>
): Promise<DataSource> {
  return (await createDataSource(dataSourceOptions(...options))).initialize();
}
