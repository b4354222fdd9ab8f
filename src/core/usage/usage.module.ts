import { Module } from '@nestjs/common';
import { UsageRecorder } from './usage-recorder.js';
import { UsageReportModule } from './usage-report.module.js';

/** Records the usage of clients. */
@Module({
  imports: [UsageReportModule],
  providers: [UsageRecorder],
  exports: [UsageReportModule],
})
export class UsageModule {}
