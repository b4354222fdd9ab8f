import { fileURLToPath } from 'node:url';
import { loadConfig } from './src/config/config.js';
import { createDataSource, dataSourceOptions } from './src/database/data-source-options.js';

/**
 * The DataSource of the TypeORM command line, on the database that the service is configured for:
 * `npm run typeorm -- migration:show`
 */
const { databaseUrl, databasePoolSize } = loadConfig();
const entities = fileURLToPath(new URL('./src/**/*.entity.{ts,js}', import.meta.url));

export default createDataSource(
  dataSourceOptions({ url: databaseUrl, poolSize: databasePoolSize, entities: [entities] }),
);
