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

export interface FoundationOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  extensions?: readonly Extension[];
}

/** What every process of ours stands on, whether it serves requests or not. Nothing here knows of them: that is slow to load. */
export function foundation(options: FoundationOptions): (DynamicModule | Type)[] {
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
