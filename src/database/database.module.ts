import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Config } from '../config/config.js';
import {
  createDataSource,
  dataSourceOptions,
  isEmbedded,
  type MigrationClass,
} from './data-source-options.js';
import { Engine } from './engine.js';
import { Poller } from './poller.js';
import { PostgresEngine } from './postgres.engine.js';
import { SqliteEngine } from './sqlite.engine.js';

@Module({})
export class DatabaseModule {
  /** @param migrations of guest modules */
  static forRoot(migrations: readonly MigrationClass[] = []): DynamicModule {
    return {
      module: DatabaseModule,
      global: true,
      imports: [
        TypeOrmModule.forRootAsync({
          inject: [Config],
          useFactory: (config: Config) => ({
            ...dataSourceOptions({
              url: config.databaseUrl,
              poolSize: config.databasePoolSize,
              migrations,
            }),
            autoLoadEntities: true,
            retryAttempts: 0,
          }),
          dataSourceFactory: (options) => Promise.resolve(createDataSource(options!)),
        }),
      ],
      providers: [
        Poller,
        {
          provide: Engine,
          inject: [DataSource, Config],
          useFactory: (dataSource: DataSource, config: Config) =>
            isEmbedded(config.databaseUrl)
              ? new SqliteEngine(dataSource)
              : new PostgresEngine(dataSource),
        },
      ],
      exports: [Engine, Poller],
    };
  }
}
