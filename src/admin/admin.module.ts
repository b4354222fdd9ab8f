import { Module } from '@nestjs/common';
import { OpenApiModule } from '../openapi/openapi.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { AdminDocument } from './admin-document.js';
import { AdminKeysController } from './admin-keys.controller.js';
import { AdminUsageController } from './admin-usage.controller.js';
import { ConsoleController } from './console.controller.js';
import { UsageOverview } from './usage-overview.service.js';

/** The admin API and its console. */
@Module({
  imports: [OpenApiModule, UsageModule],
  controllers: [AdminKeysController, AdminUsageController, ConsoleController],
  providers: [AdminDocument, UsageOverview],
})
export class AdminModule {}
