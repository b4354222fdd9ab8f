import { Module } from '@nestjs/common';
import { UsageController } from './usage.controller.js';
import { UsageRecorder } from './usage-recorder.js';
import { UsageReportModule } from './usage-report.module.js';
import { UsageService } from './usage.service.js';

/** Records the usage of clients, and answers `GET /v1/usage`. */
@Module({
  imports: [UsageReportModule],
  controllers: [UsageController],
  providers: [UsageService, UsageRecorder],
  exports: [UsageService, UsageReportModule],
})
export class UsageModule {}
