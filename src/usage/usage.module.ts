import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsageController } from './usage.controller.js';
import { UsageHistory } from './usage-history.js';
import { UsageReportModule } from './usage-report.module.js';
import { UsageService } from './usage.service.js';

/** For those who call: what their key may, and what is left of it. */
@Module({
  imports: [RateLimitsModule, UsageReportModule],
  controllers: [UsageController],
  providers: [UsageService, UsageHistory],
})
export class UsageModule {}
