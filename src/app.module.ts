import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { Clock } from './config/clock.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import type { MigrationClass } from './database/data-source-options.js';
import { DatabaseModule } from './database/database.module.js';
import { isOutage } from './database/outage.js';
import { HealthModule } from './health/health.module.js';
import { DeprecationGuard, SunsetGuard } from './http/deprecation.js';
import { ErrorFilter } from './http/error.filter.js';
import { FallbackController } from './http/fallback.controller.js';
import { HttpModule } from './http/http.module.js';
import { MessageGuard } from './http/message.guard.js';
import { QueryGuard } from './http/query.guard.js';
import { RequestPipe } from './http/request.pipe.js';
import { RouteTable } from './http/route-table.js';
import { ApiKeyGuard } from './keys/api-key.guard.js';
import { AuthenticationModule, KeysModule } from './keys/keys.module.js';
import { ScopeGuard } from './keys/scope.guard.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { PetsModule } from './pets/pets.module.js';
import { CounterChannelModule } from './rate-limits/counter-channel.module.js';
import type { CounterChannel } from './rate-limits/counter-channel.js';
import { CounterJournal } from './rate-limits/counter-journal.js';
import { PlanThrottlerGuard } from './rate-limits/plan-throttler.guard.js';
import { PrimaryCounter } from './rate-limits/primary-counter.js';
import { RateLimitsModule } from './rate-limits/rate-limits.module.js';
import { RedisModule } from './redis/redis.module.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { MetricsServer } from './telemetry/metrics.server.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';

/** A module of someone else's, with operations of its own under `/v1`. */
export interface Extension {
  module: Type | DynamicModule;
  migrations?: readonly MigrationClass[];
}

export interface AppOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  routes?: RouteTable;
  /** Of a worker: the way to the process that counts for it, and that serves its metrics. */
  primary?: CounterChannel | undefined;
  extensions?: readonly Extension[];
}

/**
 * The order of judgement: who are you, how much may you, what did you send. Global, so that it holds for
 * every operation under `/v1`, known or not, ours or a guest's.
 */
const ORDER_OF_JUDGEMENT = [
  { provide: APP_FILTER, useExisting: ErrorFilter },
  { provide: APP_GUARD, useClass: DeprecationGuard }, // headers, whatever comes after
  { provide: APP_GUARD, useClass: ApiKeyGuard }, // 401
  { provide: APP_GUARD, useClass: PlanThrottlerGuard }, // headers, 429
  { provide: APP_GUARD, useClass: MessageGuard }, // 400, 414, 417, 431
  { provide: APP_GUARD, useClass: ScopeGuard }, // 403
  { provide: APP_GUARD, useClass: SunsetGuard }, // 410
  { provide: APP_GUARD, useClass: QueryGuard }, // 400
  { provide: APP_PIPE, useClass: RequestPipe }, // 415, 413, 400
];

@Module({})
export class AppModule {
  static forRoot(options: AppOptions): DynamicModule {
    const { extensions = [], primary, config } = options;
    const isWorker = primary !== undefined;
    return {
      module: AppModule,
      imports: [
        ...foundation(options),
        KeysModule,
        AuthenticationModule.forRoot(!isWorker || config.redisUrl !== undefined),
        PetsModule,
        ...extensions.map(({ module }) => module),
        HealthModule,
        OpenApiModule,
      ],
      controllers: [FallbackController],
      providers: [...ORDER_OF_JUDGEMENT, ...(isWorker ? [] : [MetricsServer])],
    };
  }
}

/** What the command line needs of it: everything but the ear for requests. */
@Module({})
export class OperatorModule {
  static forRoot(options: AppOptions): DynamicModule {
    return {
      module: OperatorModule,
      imports: [...foundation(options), KeysModule, PetsModule],
    };
  }
}

/** What the process needs that starts the workers: it counts for them, and shows their metrics. */
@Module({})
export class PrimaryModule {
  static forRoot(options: AppOptions & { metrics: Metrics }): DynamicModule {
    const counts = options.config.redisUrl === undefined;
    return {
      module: PrimaryModule,
      imports: [...foundation(options), RateLimitsModule],
      providers: [PrimaryCounter, MetricsServer, ...(counts ? [CounterJournal] : [])],
    };
  }
}

function foundation(options: AppOptions & { metrics?: Metrics }) {
  const { config, clock, logger, metrics, routes, primary, extensions = [] } = options;
  return [
    ConfigModule.forRoot(config, clock),
    TelemetryModule.forRoot(logger, metrics),
    HttpModule.forRoot(routes ?? new RouteTable(), { isOutage }),
    RedisModule.forRoot(),
    CounterChannelModule.forRoot(primary),
    DatabaseModule.forRoot(extensions.flatMap(({ migrations = [] }) => migrations)),
  ];
}
