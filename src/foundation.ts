import type { DynamicModule, Type } from '@nestjs/common';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { EventsModule } from './events/events.module.js';
import { type Extension, migrationsOf } from './extensions/define.js';
import { CounterChannelModule } from './rate-limits/stores/counter-channel.module.js';
import type { CounterChannel } from './rate-limits/stores/counter-channel.js';
import { RedisModule } from './redis/redis.module.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import type { Traces } from './telemetry/traces.js';
import type { Clock } from './time/clock.js';
import { TimeModule } from './time/time.module.js';

export interface FoundationOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  /** Where they are not this process' own. */
  metrics?: Metrics;
  /** Of a worker: the way to the process that counts for it, and that serves its metrics. */
  primary?: CounterChannel | undefined;
  /** Undefined: nothing is traced. */
  traces?: Traces | undefined;
  extensions?: readonly Extension[];
}

/** What every process of ours stands on, whether it serves requests or not. Nothing here knows of them: that is slow to load. */
export function foundation(options: FoundationOptions): (DynamicModule | Type)[] {
  const { config, clock, logger, metrics, traces, primary, extensions = [] } = options;
  return [
    TimeModule.forRoot(clock),
    ConfigModule.forRoot(config),
    TelemetryModule.forRoot(logger, metrics, traces),
    RedisModule.forRoot(),
    EventsModule,
    CounterChannelModule.forRoot(primary),
    DatabaseModule.forRoot(migrationsOf(extensions)),
  ];
}
