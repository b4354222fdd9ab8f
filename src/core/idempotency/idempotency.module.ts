import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyRecord } from './idempotency-record.entity.js';
import { IdempotencyService } from './idempotency.service.js';
import { ResponseSerializer } from './response-serializer.js';

/**
 * Global, because Nest resolves the interceptor of `@Idempotent()` in the module of the controller.
 */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyRecord])],
  providers: [IdempotencyService, ResponseSerializer],
  exports: [IdempotencyService, ResponseSerializer],
})
export class IdempotencyModule {}
