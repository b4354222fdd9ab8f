import { Module } from '@nestjs/common';
import { UsageReportModule } from '../core/usage/usage-report.module.js';
import { KeyController } from './key.controller.js';
import { UsageController } from './usage.controller.js';

/** The operations for the holder of a key. */
@Module({
  imports: [UsageReportModule],
  controllers: [KeyController, UsageController],
})
export class AccountModule {}
