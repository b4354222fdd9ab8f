import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UsageHour, UsageRefusals } from './usage.entities.js';
import { UsageReport } from './usage-report.js';
import { UsageRepository } from './usage.repository.js';

/** The recorded usage, for the server and the command line. */
@Module({
  imports: [TypeOrmModule.forFeature([UsageHour, UsageRefusals])],
  providers: [UsageRepository, UsageReport],
  exports: [UsageRepository, UsageReport],
})
export class UsageReportModule {}
