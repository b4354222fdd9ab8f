import { Global, Module } from '@nestjs/common';
import { DatabaseFaults } from './database-faults.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

/**
 * Global, for the error filter, and so that modules of extensions can register readiness checks.
 */
@Global()
@Module({
  controllers: [HealthController],
  providers: [DatabaseFaults, Readiness],
  exports: [DatabaseFaults, Readiness],
})
export class HealthModule {}
