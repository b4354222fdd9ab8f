import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ErrorFilter } from '../error.filter.js';
import { DatabaseFaults } from '../health/database-faults.js';
import { HttpModule } from '../http/http.module.js';
import type { Transport } from '../http/transport.js';
import { ContentGuard } from '../input/content.guard.js';
import { InputPipe } from '../input/input.pipe.js';
import { AdminTokens } from '../keys/admin-tokens.service.js';
import { AuditTrail } from '../keys/audit-trail.js';
import { Authenticator } from '../keys/authenticator.js';
import { KeyList } from '../keys/key-list.js';
import { KeyMetrics } from '../keys/key-metrics.js';
import { KeysService } from '../keys/keys.service.js';
import { Scopes } from '../keys/scopes.js';
import { DocumentSource } from '../openapi/document.js';
import { Plans } from '../rate-limits/plan.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Logger } from '../telemetry/logger.js';
import { Clock } from '../time/clock.js';
import { UsageRepository } from '../usage/usage.repository.js';
import { UsageService } from '../usage/usage.service.js';
import { AdminGuard } from './admin.guard.js';
import { AdminKeysController } from './admin-keys.controller.js';
import { AdminUsageController } from './admin-usage.controller.js';
import { ConsoleController } from './console.controller.js';
import { UsageOverview } from './usage-overview.service.js';

/**
 * Providers of the running service. None of them may have a lifecycle hook: Nest calls the hooks of
 * a provider in every application that has it.
 */
const SHARED = [
  AdminTokens,
  AuditTrail,
  Authenticator,
  Clock,
  DatabaseFaults,
  KeyList,
  KeyMetrics,
  KeysService,
  Logger,
  Plans,
  RateLimiter,
  Scopes,
  UsageRepository,
  UsageService,
];

/** In this order, after what Fastify rejects. */
const EVALUATION_ORDER = [
  AdminGuard, // 401; 429 of an address
  ContentGuard, // 414, 400, 415, 413; parses the body
];

/** The admin API and its console. */
@Module({})
export class AdminModule {
  /** @param service the running service */
  static forRoot(transport: Transport, service: INestApplicationContext): DynamicModule {
    return {
      module: AdminModule,
      imports: [HttpModule.forRoot(transport)],
      controllers: [AdminKeysController, AdminUsageController, ConsoleController],
      providers: [
        ...SHARED.map((provide) => ({ provide, useValue: service.get<object>(provide) })),
        ...EVALUATION_ORDER.map((useClass) => ({ provide: APP_GUARD, useClass })),
        { provide: APP_PIPE, useClass: InputPipe }, // 400
        { provide: APP_FILTER, useClass: ErrorFilter },
        DocumentSource,
        UsageOverview,
      ],
    };
  }
}
