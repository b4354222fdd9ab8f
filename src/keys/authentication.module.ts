import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { ThrottlingModule } from '../rate-limits/throttling.module.js';
import { Authenticator } from './authenticator.js';
import { AuditTrail } from './audit-trail.js';
import { BanRecords } from './ban-records.js';
import { KeyCache } from './key-cache.js';
import { LastUses } from './last-uses.js';
import { QuotaEvents } from './quota-events.js';
import { type TokenVerifier, VERIFIERS, Verifiers } from './verifiers.js';

/** Identifies and counts callers, in a server. */
@Module({})
export class AuthenticationModule {
  /** @param verifiers those of extensions */
  static forRoot(verifiers: readonly (TokenVerifier | Type<TokenVerifier>)[]): DynamicModule {
    return {
      module: AuthenticationModule,
      imports: [ThrottlingModule],
      providers: [
        { provide: VERIFIERS, useValue: verifiers },
        Verifiers,
        KeyCache,
        LastUses,
        Authenticator,
        AuditTrail,
        BanRecords,
        QuotaEvents,
      ],
      exports: [Authenticator, ThrottlingModule],
    };
  }
}
