import type { DynamicModule, Type } from '@nestjs/common';
import { Config } from './core/config/config.js';
import { DatabaseModule } from './core/database/database.module.js';
import { EventsModule } from './core/events/events.js';
import { type Extension, migrationsOf } from './extensions/define.js';
import { type OwnPlans, Plans } from './core/rate-limits/plan.js';
import { RateLimitsModule } from './core/rate-limits/rate-limits.module.js';
import { Logger } from './core/telemetry/logger.js';
import { Metrics } from './core/telemetry/metrics.js';
import { Clock } from './core/time/clock.js';

export interface CoreOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  extensions?: readonly Extension[];
  /** Further plans, and other limits of Free, Pro and Business, by name. */
  plans?: OwnPlans | undefined;
}

/**
 * Modules of every process, the server and the command line. The first one provides configuration,
 * settings of extensions, clock, log and metrics in all of them.
 */
export function coreModules(options: CoreOptions): (DynamicModule | Type)[] {
  const { config, logger, clock = new Clock(), extensions = [], plans } = options;
  const providers = [
    { provide: Config, useValue: config },
    ...config.settings.map((each) => ({ provide: each.constructor, useValue: each })),
    { provide: Clock, useValue: clock },
    { provide: Logger, useValue: logger },
    { provide: Plans, useValue: new Plans(plans) },
    Metrics,
  ];
  return [
    { module: class CoreModule {}, global: true, providers, exports: providers },
    EventsModule,
    DatabaseModule.forRoot(migrationsOf(extensions)),
    RateLimitsModule,
  ];
}
