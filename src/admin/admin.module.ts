import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { ErrorFilter } from '../core/error.filter.js';
import { DatabaseFaults } from '../core/database/database-faults.js';
import { HttpModule } from '../core/http/http.module.js';
import type { Transport } from '../core/http/transport.js';
import { ContentGuard } from '../core/input/content.guard.js';
import { InputPipe } from '../core/input/input.pipe.js';
import { AdminTokens } from '../core/keys/admin-tokens.service.js';
import { AuditTrail } from '../core/keys/audit-trail.js';
import { Authenticator } from '../core/keys/authenticator.js';
import { InsecureRequests } from '../core/keys/https.guard.js';
import { KeyList } from '../core/keys/key-list.js';
import { KeyMetrics } from '../core/keys/key-metrics.js';
import { KeysService } from '../core/keys/keys.service.js';
import { Scopes } from '../core/keys/scopes.js';
import { DocumentSource } from '../docs/document.js';
import { Plans } from '../core/rate-limits/plan.js';
import { RateLimiter } from '../core/rate-limits/rate-limiter.js';
import { Logger } from '../core/telemetry/logger.js';
import { Clock } from '../core/time/clock.js';
import { UsageRepository } from '../core/usage/usage.repository.js';
import { UsageService } from '../core/usage/usage.service.js';
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
  InsecureRequests,
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
  AdminGuard, // 401; 429 of an address; 403 without TLS or as a viewer
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
