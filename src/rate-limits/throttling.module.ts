import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { MINUTE_MS } from '../time/windows.js';
import { CounterPersistence } from './counter-persistence.js';
import { OverloadMonitor } from './overload.guard.js';
import { NO_LIMIT } from './plan-throttler.guard.js';
import { RateLimitsModule } from './rate-limits.module.js';

/** The defaults of `@Throttle()`. */
const throttler = ThrottlerModule.forRoot([{ ttl: MINUTE_MS, limit: NO_LIMIT }]);

/**
 * The providers that only a server needs: dependencies of the guards, and the persistence of its
 * counters.
 */
@Module({
  imports: [RateLimitsModule, throttler],
  providers: [OverloadMonitor, CounterPersistence],
  exports: [RateLimitsModule, throttler, OverloadMonitor],
})
export class ThrottlingModule {}
