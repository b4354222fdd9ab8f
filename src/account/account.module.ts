import { Module } from '@nestjs/common';
import { UsageModule } from '../core/usage/usage.module.js';
import { KeyController } from './key.controller.js';
import { UsageController } from './usage.controller.js';

/** The operations for the holder of a key. */
@Module({
  imports: [UsageModule],
  controllers: [KeyController, UsageController],
})
export class AccountModule {}
