import { type DynamicModule, Module } from '@nestjs/common';
import { foundation, type FoundationOptions } from '../foundation.js';
import { AuditWatch } from '../keys/audit-watch.js';
import { KeysModule } from '../keys/keys.module.js';
import { CounterJournal } from '../rate-limits/counter-journal.js';
import { PrimaryCounter } from '../rate-limits/stores/primary-counter.js';
import type { Metrics } from '../telemetry/metrics.js';
import { MetricsServer } from '../telemetry/metrics.server.js';

/** What the process needs that starts the workers: it counts for them, shows their metrics, and issues a first key. */
@Module({})
export class PrimaryModule {
  static forRoot(options: FoundationOptions & { metrics: Metrics }): DynamicModule {
    const counts = options.config.redisUrl === undefined;
    return {
      module: PrimaryModule,
      imports: [...foundation(options), KeysModule.forRoot([])],
      providers: [PrimaryCounter, AuditWatch, MetricsServer, ...(counts ? [CounterJournal] : [])],
    };
  }
}
