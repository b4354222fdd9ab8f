import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { MINUTE_MS } from '../time/windows.js';
import {
  NO_FURTHER_LIMIT,
  Overload,
  OverloadGuard,
  PLAN_THROTTLER,
} from './plan-throttler.guard.js';
import { RateLimitsModule } from './rate-limits.module.js';

const throttler = ThrottlerModule.forRoot([
  { name: PLAN_THROTTLER, ttl: MINUTE_MS, limit: NO_FURTHER_LIMIT },
]);

/** What judges requests by what was counted. */
@Module({
  imports: [RateLimitsModule, throttler],
  providers: [Overload, OverloadGuard],
  exports: [RateLimitsModule, throttler, Overload, OverloadGuard],
})
export class ThrottlingModule {}
