import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import type { Clock } from './time/clock.js';
import { TimeModule } from './time/time.module.js';
import type { Config } from './config/config.js';
import { ConfigModule } from './config/config.module.js';
import { DatabaseModule } from './database/database.module.js';
import { isDatabaseOutage, isOfAll } from './database/outage.js';
import { EventsModule } from './events/events.module.js';
import type { CheckOptions } from './extensions/check.js';
import { SettingsModule } from './extensions/settings.js';
import { type Extension, migrationsOf } from './extensions/define.js';
import { HealthModule } from './health/health.module.js';
import { DeprecationGuard, SunsetGuard } from './deprecation/deprecation.js';
import { ErrorFilter } from './http/error.filter.js';
import { FallbackController } from './http/fallback.controller.js';
import { HttpModule } from './http/http.module.js';
import { MessageGuard } from './http/message.guard.js';
import { QueryGuard } from './input/query.guard.js';
import { BodyGuard } from './input/body.guard.js';
import { InputPipe } from './input/input.pipe.js';
import { RouteTable } from './http/route-table.js';
import { WaitingLine } from './http/waiting-line.js';
import { ApiKeyGuard } from './keys/api-key.guard.js';
import { AuditWatch } from './keys/audit-watch.js';
import { AuthenticationModule, KeysModule } from './keys/keys.module.js';
import { ScopeGuard } from './keys/scope.guard.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { PetsModule } from './pets/pets.module.js';
import { CounterChannelModule } from './rate-limits/stores/counter-channel.module.js';
import type { CounterChannel } from './rate-limits/stores/counter-channel.js';
import { CounterJournal } from './rate-limits/counter-journal.js';
import { OverloadGuard } from './rate-limits/overload.guard.js';
import { PlanThrottlerGuard } from './rate-limits/plan-throttler.guard.js';
import { PrimaryCounter } from './rate-limits/stores/primary-counter.js';
import { RedisModule } from './redis/redis.module.js';
import type { Logger } from './telemetry/logger.js';
import type { Metrics } from './telemetry/metrics.js';
import { MetricsServer } from './telemetry/metrics.server.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import type { Traces } from './telemetry/traces.js';
import { UsageModule, UsageReportModule } from './usage/usage.module.js';

export interface AppOptions extends CheckOptions {
  config: Config;
  logger: Logger;
  clock?: Clock | undefined;
  routes?: RouteTable;
  line?: WaitingLine;
  /** Of a worker: the way to the process that counts for it, and that serves its metrics. */
  primary?: CounterChannel | undefined;
  /** Undefined: nothing is traced. */
  traces?: Traces | undefined;
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
  { provide: APP_GUARD, useClass: OverloadGuard }, // 503 while there is no time
  { provide: APP_GUARD, useClass: PlanThrottlerGuard }, // headers, 429
  { provide: APP_GUARD, useClass: MessageGuard }, // 400, 414, 417, 431
  { provide: APP_GUARD, useClass: ScopeGuard }, // 403
  { provide: APP_GUARD, useClass: SunsetGuard }, // 410
  { provide: APP_GUARD, useClass: QueryGuard }, // 400
  { provide: APP_GUARD, useClass: BodyGuard }, // 415, 413, 400
  { provide: APP_PIPE, useClass: InputPipe }, // 400
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
        KeysModule.forRoot(extensions.map(({ scopes = {} }) => scopes)),
        AuthenticationModule.forRoot(
          !isWorker || config.redisUrl !== undefined,
          extensions.flatMap(({ verifier }) => verifier ?? []),
        ),
        PetsModule,
        UsageModule,
        SettingsModule.forRoot(config.settings),
        ...extensions.map(({ module }) => module),
        HealthModule,
        OpenApiModule,
      ],
      controllers: [FallbackController],
      providers: [...ORDER_OF_JUDGEMENT, ...(isWorker ? [] : [AuditWatch, MetricsServer])],
    };
  }
}

/** Whose operations are ours; all others are guests'. */
export const OUR_MODULES: ReadonlySet<Type> = new Set<Type>([
  AppModule,
  PetsModule,
  UsageModule,
  HealthModule,
  OpenApiModule,
]);

/** What the command line needs of it: everything but the ear for requests. */
@Module({})
export class OperatorModule {
  static forRoot(options: AppOptions): DynamicModule {
    const scopes = (options.extensions ?? []).map((extension) => extension.scopes ?? {});
    return {
      module: OperatorModule,
      imports: [...foundation(options), KeysModule.forRoot(scopes), PetsModule, UsageReportModule],
    };
  }
}

/** What the process needs that starts the workers: it counts for them, shows their metrics, and issues a first key. */
@Module({})
export class PrimaryModule {
  static forRoot(options: AppOptions & { metrics: Metrics }): DynamicModule {
    const counts = options.config.redisUrl === undefined;
    return {
      module: PrimaryModule,
      imports: [...foundation(options), KeysModule.forRoot([])],
      providers: [PrimaryCounter, AuditWatch, MetricsServer, ...(counts ? [CounterJournal] : [])],
    };
  }
}

function foundation(options: AppOptions & { metrics?: Metrics }) {
  const {
    config,
    clock,
    logger,
    metrics,
    traces,
    routes,
    line,
    primary,
    extensions = [],
  } = options;
  return [
    TimeModule.forRoot(clock),
    ConfigModule.forRoot(config),
    TelemetryModule.forRoot(logger, metrics, traces),
    HttpModule.forRoot(routes ?? new RouteTable(), line ?? new WaitingLine(), {
      isOutage: isDatabaseOutage,
      isNoticed: isOfAll,
    }),
    RedisModule.forRoot(),
    EventsModule,
    CounterChannelModule.forRoot(primary),
    DatabaseModule.forRoot(migrationsOf(extensions)),
  ];
}
