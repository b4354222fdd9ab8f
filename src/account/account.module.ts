import { Module } from '@nestjs/common';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { KeyController } from './key.controller.js';
import { KeyHolderService } from './key-holder.service.js';

/** The operations on the key that sends the request. */
@Module({
  imports: [RateLimitsModule],
  controllers: [KeyController],
  providers: [KeyHolderService],
})
export class AccountModule {}
