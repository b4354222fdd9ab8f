import type { DynamicModule, Type } from '@nestjs/common';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { EventsModule } from './events/events.module.js';
import { type Extension, migrationsOf } from './extensions/define.js';
import { RedisModule } from './redis/redis.module.js';
import type { Logger } from './telemetry/logger.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import type { Clock } from './time/clock.js';
import { TimeModule } from './time/time.module.js';

export interface CoreOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  extensions?: readonly Extension[];
}

/** Modules of every process, the server and the command line. They load neither Fastify nor Swagger, which take long. */
export function coreModules(options: CoreOptions): (DynamicModule | Type)[] {
  const { config, clock, logger, extensions = [] } = options;
  return [
    TimeModule.forRoot(clock),
    ConfigModule.forRoot(config),
    TelemetryModule.forRoot(logger),
    RedisModule,
    EventsModule,
    DatabaseModule.forRoot(migrationsOf(extensions)),
  ];
}
