import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { coreModules, type CoreOptions } from './core.module.js';
import { DeprecationGuard, SunsetGuard } from './core/deprecation/deprecation.js';
import { HealthModule } from './core/health/health.module.js';
import { ErrorFilter } from './core/error.filter.js';
import { nameOf } from './extensions/define.js';
import { CatchAllController } from './core/http/catch-all.controller.js';
import { HttpModule } from './core/http/http.module.js';
import type { Transport } from './core/http/transport.js';
import { ContentGuard } from './core/input/content.guard.js';
import { IdempotencyModule } from './core/idempotency/idempotency.module.js';
import { InputPipe } from './core/input/input.pipe.js';
import { ApiKeyGuard } from './core/keys/api-key.guard.js';
import { HttpsGuard } from './core/keys/https.guard.js';
import { KeysModule } from './core/keys/keys.module.js';
import { ScopeGuard } from './core/keys/scope.guard.js';
import { DocsController } from './docs/docs.controller.js';
import { DocumentSource } from './docs/document.js';
import { CounterPersistence } from './core/rate-limits/counter-persistence.js';
import { OverloadGuard, OverloadMonitor } from './core/rate-limits/overload.guard.js';
import { PlanThrottlerGuard } from './core/rate-limits/plan-throttler.guard.js';
import { AccessLog } from './core/http/access-log.js';
import { MetricsServer } from './core/telemetry/metrics.server.js';
import { MINUTE_MS } from './core/time/windows.js';
import { UsageModule } from './core/usage/usage.module.js';
import { UsageRecorder } from './core/usage/usage-recorder.js';

/**
 * First authentication, then quota, then the content of the request. Nest registers global guards
 * module by module, beginning with the root module: these run before those of extensions. The
 * `CatchAllController` is the route of every unknown path under `/v1`, so they run there too.
 */
const EVALUATION_ORDER = [
  DeprecationGuard, // sets headers, rejects nothing
  ApiKeyGuard, // 401, 403; 429 of an address
  OverloadGuard, // 503
  PlanThrottlerGuard, // rate-limit headers, 429
  HttpsGuard, // 403 if the key was sent without TLS
  ScopeGuard, // 403
  SunsetGuard, // 410
  ContentGuard, // 414, 400, 415, 413; parses the body
];

/**
 * The modules of the service and of its extensions, without guards, the metrics server, the saving
 * of counters and the recording of usage. A command of an extension runs on them.
 */
export function serviceModules(
  transport: Transport,
  options: CoreOptions,
): (DynamicModule | Type)[] {
  const { extensions = [] } = options;
  return [
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
  ];
}

@Module({})
export class AppModule {
  /** @param transport created before the application, because the `FastifyAdapter` needs it */
  static forRoot(transport: Transport, options: CoreOptions): DynamicModule {
    return {
      module: AppModule,
      imports: serviceModules(transport, options),
      controllers: [CatchAllController, DocsController],
      providers: [
        ...EVALUATION_ORDER.map((useClass) => ({ provide: APP_GUARD, useClass })),
        { provide: APP_PIPE, useClass: InputPipe }, // 400
        // Every error; filters of extensions come first.
        { provide: APP_FILTER, useClass: ErrorFilter },
        AccessLog,
        CounterPersistence,
        DocumentSource,
        MetricsServer,
        OverloadMonitor,
        UsageRecorder,
      ],
    };
  }
}
