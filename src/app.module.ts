import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { coreModules, type CoreOptions } from './core.module.js';
import { DeprecationGuard, SunsetGuard } from './deprecation/deprecation.js';
import { HealthModule } from './health/health.module.js';
import { ErrorFilter } from './error.filter.js';
import { nameOf } from './extensions/define.js';
import { FallbackController } from './http/fallback.controller.js';
import { HttpModule } from './http/http.module.js';
import type { Transport } from './http/transport.js';
import { ContentGuard } from './input/content.guard.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { InputPipe } from './input/input.pipe.js';
import { ApiKeyGuard } from './keys/api-key.guard.js';
import { KeysModule } from './keys/keys.module.js';
import { ScopeGuard } from './keys/scope.guard.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { CounterPersistence } from './rate-limits/counter-persistence.js';
import { OverloadGuard, OverloadMonitor } from './rate-limits/overload.guard.js';
import { PlanThrottlerGuard } from './rate-limits/plan-throttler.guard.js';
import { AccessLog } from './http/access-log.js';
import { MetricsServer } from './telemetry/metrics.server.js';
import { MINUTE_MS } from './time/windows.js';
import { UsageModule } from './usage/usage.module.js';

/**
 * First authentication, then quota, then the content of the request. Nest registers global guards
 * module by module, beginning with the root module: these run before those of extensions. The
 * `FallbackController` is the route of every unknown path under `/v1`, so they run there too.
 */
const EVALUATION_ORDER = [
  DeprecationGuard, // sets headers, rejects nothing
  ApiKeyGuard, // 401; 429 of an address
  OverloadGuard, // 503
  PlanThrottlerGuard, // rate-limit headers, 429
  ScopeGuard, // 403
  SunsetGuard, // 410
  ContentGuard, // 414, 400, 415, 413; parses the body
];

@Module({})
export class AppModule {
  /** @param transport created before the application, because the `FastifyAdapter` needs it */
  static forRoot(transport: Transport, options: CoreOptions): DynamicModule {
    const { extensions = [] } = options;
    return {
      module: AppModule,
      imports: [
        ...coreModules(options),
        // The defaults of `@Throttle()`.
        ThrottlerModule.forRoot([{ ttl: MINUTE_MS, limit: Infinity }]),
        HttpModule.forRoot(transport),
        KeysModule.forRoot(
          extensions,
          extensions.flatMap((each) => {
            const { verifier } = each;
            return verifier === undefined ? [] : { extension: nameOf(each), verifier };
          }),
        ),
        IdempotencyModule,
        UsageModule,
        ...extensions.map(({ module }) => module),
        HealthModule,
        OpenApiModule,
      ],
      controllers: [FallbackController],
      providers: [
        ...EVALUATION_ORDER.map((useClass) => ({ provide: APP_GUARD, useClass })),
        { provide: APP_PIPE, useClass: InputPipe }, // 400
        // Every error; filters of extensions come first.
        { provide: APP_FILTER, useClass: ErrorFilter },
        AccessLog,
        CounterPersistence,
        MetricsServer,
        OverloadMonitor,
      ],
    };
  }
}
