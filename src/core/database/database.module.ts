import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import { connect } from './connect.js';
import { createDataSource, dataSourceOptions } from './data-source-options.js';
import type { ExtensionMigrations } from './extension-migrations.js';
import { BackgroundTasks } from './background-tasks.js';
import { DatabaseFaults } from './database-faults.js';
import { ChangePoller } from './change-poller.js';
import { Database } from './database.js';
import { DatabaseMetrics } from './database-metrics.js';
import type { PostgresDataSource } from './postgres/postgres.data-source.js';
import { SqliteDataSource } from './sqlite/sqlite.data-source.js';
import { SqliteDatabase } from './sqlite/sqlite.database.js';

async function openDatabase(dataSource: DataSource, metrics: DatabaseMetrics): Promise<Database> {
  let database: Database;
  if (dataSource instanceof SqliteDataSource) {
    database = new SqliteDatabase(dataSource, metrics);
  } else {
    const { PostgresDatabase } = await import('./postgres/postgres.database.js');
    database = new PostgresDatabase(dataSource as PostgresDataSource, metrics);
  }
  metrics.watchPool(() => database.pool());
  const afterQuery = ({ executionTime = 0 }: { executionTime?: number }) =>
    metrics.observe('typeorm', performance.now() - executionTime);
  dataSource.subscribers.push({ afterQuery });
  return database;
}

@Module({})
export class DatabaseModule {
  static forRoot(extensions: readonly ExtensionMigrations[]): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Config],
          useFactory: (config: Config) => ({
            ...dataSourceOptions(config.databaseUrl, extensions, config.databasePoolSize),
            autoLoadEntities: true,
            // Prints with DEBUG=typeorm:* only. The default logger writes to standard output, also
            // the results of commands.
            logger: 'debug' as const,
            // The caller reports a database that cannot be reached, once.
            toRetry: () => false,
          }),
          dataSourceFactory: async (options) => connect(await createDataSource(options!)),
        }),
      ],
      providers: [
        BackgroundTasks,
        ChangePoller,
        DatabaseFaults,
        DatabaseMetrics,
        { provide: Database, inject: [DataSource, DatabaseMetrics], useFactory: openDatabase },
      ],
      exports: [BackgroundTasks, ChangePoller, Database, DatabaseFaults],
    };
  }
}
