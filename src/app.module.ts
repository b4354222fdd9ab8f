import {
  type DynamicModule,
  Module,
  StandardSchemaValidationPipe,
  type Type,
} from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { DatabaseFaults } from './database/database-faults.js';
import { DeprecationGuard, SunsetGuard } from './deprecation/deprecation.js';
import type { CheckOptions } from './extensions/check.js';
import { SettingsModule } from './extensions/settings.js';
import { foundation, type FoundationOptions } from './foundation.js';
import { HealthModule } from './health/health.module.js';
import { ErrorFilter } from './http/error.filter.js';
import { FallbackController } from './http/fallback.controller.js';
import { HttpModule } from './http/http.module.js';
import { MessageGuard } from './http/request-context.js';
import type { RouteTable } from './http/route-table.js';
import { BodyGuard } from './input/body.guard.js';
import { InputPipe } from './input/input.pipe.js';
import { CORE_MODULES, QueryGuard } from './input/query.guard.js';
import { ApiKeyGuard } from './keys/api-key.guard.js';
import { AuthenticationModule } from './keys/authentication.module.js';
import { KeysModule } from './keys/keys.module.js';
import { ScopeGuard } from './keys/scope.guard.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { PetsModule } from './pets/pets.module.js';
import { OverloadGuard } from './rate-limits/overload.guard.js';
import { PlanThrottlerGuard } from './rate-limits/plan-throttler.guard.js';
import { AccessLog } from './telemetry/access-log.js';
import { MetricsServer } from './telemetry/metrics.server.js';
import type { AdmissionQueue } from './http/admission-queue.js';
import { UsageModule } from './usage/usage.module.js';

export interface AppOptions extends FoundationOptions, CheckOptions {
  /** Both are filled by the transport, which exists before the application. */
  routes: RouteTable;
  line: AdmissionQueue;
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
  { provide: APP_PIPE, useClass: StandardSchemaValidationPipe }, // 400
];

@Module({})
export class AppModule {
  static forRoot(options: AppOptions): DynamicModule {
    const { extensions = [], config, routes, line } = options;
    return {
      module: AppModule,
      imports: [
        ...foundation(options),
        HttpModule.forRoot(routes, line, DatabaseFaults),
        KeysModule.forRoot(extensions.map(({ scopes = {} }) => scopes)),
        AuthenticationModule.forRoot(extensions.flatMap(({ verifier }) => verifier ?? [])),
        PetsModule,
        UsageModule,
        SettingsModule.forRoot(config.settings),
        ...extensions.map(({ module }) => module),
        HealthModule,
        OpenApiModule,
      ],
      controllers: [FallbackController],
      providers: [
        ...ORDER_OF_JUDGEMENT,
        { provide: CORE_MODULES, useFactory: () => OUR_MODULES },
        AccessLog,
        MetricsServer,
      ],
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
