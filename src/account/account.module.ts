import { Module } from '@nestjs/common';
import { KeyController } from './key.controller.js';

/** The operations on the key that sends the request. */
@Module({
  controllers: [KeyController],
})
export class AccountModule {}
