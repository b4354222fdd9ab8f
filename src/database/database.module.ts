import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { connect } from './connect.js';
import { createDataSource, dataSourceOptions } from './data-source-options.js';
import { DatabaseLog } from './database-log.js';
import type { ExtensionMigrations } from './extension-migrations.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Engine } from './engine.js';
import { ObservedEngine } from './observed.engine.js';
import { Poller } from './poller.js';
import type { PostgresDataSource } from './postgres/postgres.data-source.js';
import { PostgresEngine } from './postgres/postgres.engine.js';
import { SqliteDataSource } from './sqlite/sqlite.data-source.js';
import { SqliteEngine } from './sqlite/sqlite.engine.js';

/** What TypeORM says to the database, in as many words as a guest likes. */
const GUESTS = 'typeorm';

function openEngine(dataSource: DataSource, metrics: Metrics): Engine {
  const isSqlite = dataSource instanceof SqliteDataSource;
  const engine = isSqlite
    ? new SqliteEngine(dataSource)
    : new PostgresEngine(dataSource as PostgresDataSource);
  const observed = new ObservedEngine(engine, metrics);
  dataSource.subscribers.push({
    afterQuery: ({ executionTime = 0 }) => observed.ran(GUESTS, performance.now() - executionTime),
  });
  return observed;
}

@Module({})
export class DatabaseModule {
  static forRoot(extensions: readonly ExtensionMigrations[] = []): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Config, Logger],
          useFactory: (config: Config, logger: Logger) => ({
            ...dataSourceOptions({
              url: config.databaseUrl,
              poolSize: config.databasePoolSize,
              extensions,
            }),
            autoLoadEntities: true,
            logger: new DatabaseLog(logger),
            // The caller reports a database that cannot be reached, once.
            toRetry: () => false,
          }),
          dataSourceFactory: (options) => connect(createDataSource(options!)),
        }),
      ],
      providers: [
        Poller,
        {
          provide: Engine,
          inject: [DataSource, Metrics],
          useFactory: openEngine,
        },
      ],
      exports: [Engine, Poller],
    };
  }
}
