import { Global, Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

/** Global: what else a node cannot do without registers a check. */
@Global()
@Module({
  imports: [RateLimitsModule],
  controllers: [HealthController],
  providers: [Readiness],
  exports: [Readiness],
})
export class HealthModule {}
