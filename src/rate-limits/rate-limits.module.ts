import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ThrottlerModule } from '@nestjs/throttler';
import { Clock } from '../config/clock.js';
import { Config } from '../config/config.js';
import { Metrics } from '../telemetry/metrics.js';
import { BanLedger } from './ban-ledger.js';
import { CounterLedger } from './counter-ledger.js';
import { MemoryStore } from './memory.store.js';
import { PLAN_THROTTLER } from './plan-throttler.guard.js';
import { PLANS } from './plan.js';
import { RateLimitBan } from './rate-limit-ban.entity.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import { RateLimitStore } from './rate-limit-store.js';
import { RateLimiter } from './rate-limiter.js';
import { Usage } from './usage.js';
import { MINUTE_MS } from './windows.js';

const throttler = ThrottlerModule.forRoot([
  { name: PLAN_THROTTLER, ttl: MINUTE_MS, limit: PLANS.free.perMinute },
]);

@Module({
  imports: [TypeOrmModule.forFeature([RateLimitBan, RateLimitCounter]), throttler],
  providers: [
    {
      provide: MemoryStore,
      inject: [Clock, Config, Metrics],
      useFactory: (clock: Clock, config: Config, metrics: Metrics) => {
        metrics.setCounterStore('memory');
        return new MemoryStore(clock, {
          afterRejections: config.banAfterRejections,
          firstBanMs: config.banSeconds * 1000,
        });
      },
    },
    { provide: RateLimitStore, useExisting: MemoryStore },
    BanLedger,
    CounterLedger,
    Usage,
    RateLimiter,
  ],
  exports: [throttler, RateLimitStore, RateLimiter, MemoryStore, BanLedger, CounterLedger, Usage],
})
export class RateLimitsModule {}
