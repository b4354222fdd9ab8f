import { fileURLToPath } from 'node:url';
import { getMetadataArgsStorage } from 'typeorm';
import { loadConfig } from './src/core/config/config.js';
import { createDataSource, dataSourceOptions } from './src/core/database/data-source-options.js';
import { migrationsOf } from './src/extensions/define.js';
import { loadAllExtensions } from './src/built-in.js';

/**
 * The DataSource of the TypeORM command line, on the database that the service is configured for, with the
 * extensions of `petstore.config.js`: `npm run typeorm -- migration:show`
 */
const { extensions } = await loadAllExtensions({});
const entities = fileURLToPath(new URL('./src/**/*.entity.{ts,js}', import.meta.url));
// To import an extension is to define its entities.
const theirs = getMetadataArgsStorage().tables.map(({ target }) => target as new () => object);

const options = dataSourceOptions(loadConfig().databaseUrl, migrationsOf(extensions));

export default await createDataSource({ ...options, entities: [entities, ...theirs] });
