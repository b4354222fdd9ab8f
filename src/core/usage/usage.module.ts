import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RejectedGroup, UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';

/** The recorded usage, for the server and the command line. The server alone records it. */
@Module({
  imports: [TypeOrmModule.forFeature([RejectedGroup, UsageHour])],
  providers: [UsageRepository, UsageService],
  exports: [UsageRepository, UsageService],
})
export class UsageModule {}
