import { Module } from '@nestjs/common';
import { KeyController } from './key.controller.js';
import { UsageController } from './usage.controller.js';
import { UsageRecorder } from './usage-recorder.js';
import { UsageReportModule } from './usage-report.module.js';

/** The operations for the holder of a key. Records the usage of clients. */
@Module({
  imports: [UsageReportModule],
  controllers: [KeyController, UsageController],
  providers: [UsageRecorder],
  exports: [UsageReportModule],
})
export class UsageModule {}
