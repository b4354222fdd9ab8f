import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CounterJournal } from '../rate-limits/counter-journal.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { ApiKey } from './api-key.entity.js';
import { Authenticator } from './authenticator.js';
import { ClientAddress } from './client-address.js';
import { Gatekeeper } from './gatekeeper.js';
import { KeyDirectory } from './key-directory.js';
import { KeysService } from './keys.service.js';

/** Keys as operators see them: issue, rotate, revoke. */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey]), RateLimitsModule],
  providers: [KeysService],
  exports: [KeysService, RateLimitsModule],
})
export class KeysModule {}

/** Keys as a server sees them: it recognises callers, counts them, and keeps both up to date. */
@Module({})
export class AuthenticationModule {
  /** @param counts whether this process counts, if only while Redis is away */
  static forRoot(counts: boolean): DynamicModule {
    return {
      module: AuthenticationModule,
      imports: [RateLimitsModule],
      providers: [
        ...(counts ? [CounterJournal] : []),
        ...[KeyDirectory, ClientAddress, Authenticator, Gatekeeper],
      ],
      exports: [Authenticator, Gatekeeper, RateLimitsModule],
    };
  }
}
