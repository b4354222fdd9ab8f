import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { UsageController } from './usage.controller.js';
import { UsageHistory } from './usage-history.js';
import { UsageHour } from './usage-hour.entity.js';
import { UsageJournalEntry } from './usage-journal.entity.js';
import { UsageLedger } from './usage-ledger.js';
import { UsageRefusals } from './usage-refusals.entity.js';
import { UsageReport } from './usage-report.js';
import { UsageService } from './usage.service.js';

/** What was recorded of clients. */
@Module({
  imports: [TypeOrmModule.forFeature([UsageHour, UsageJournalEntry, UsageRefusals])],
  providers: [UsageLedger, UsageReport],
  exports: [UsageLedger, UsageReport],
})
export class UsageReportModule {}

/** For those who call: what their key may, and what is left of it. */
@Module({
  imports: [RateLimitsModule, UsageReportModule],
  controllers: [UsageController],
  providers: [UsageService, UsageHistory],
})
export class UsageModule {}
