import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { KeyController } from './key.controller.js';

/** The operations on the key that sends the request. */
@Module({
  imports: [RateLimitsModule],
  controllers: [KeyController],
})
export class AccountModule {}
