import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsageHour } from './usage-hour.entity.js';
import { UsageJournalEntry } from './usage-journal.entity.js';
import { UsageLedger } from './usage-ledger.js';
import { UsageRefusals } from './usage-refusals.entity.js';
import { UsageReport } from './usage-report.js';

/** What was recorded of clients. */
@Module({
  imports: [TypeOrmModule.forFeature([UsageHour, UsageJournalEntry, UsageRefusals])],
  providers: [UsageLedger, UsageReport],
  exports: [UsageLedger, UsageReport],
})
export class UsageReportModule {}
