import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CounterJournal } from '../rate-limits/counter-journal.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { ApiKeyUse } from './api-key-use.entity.js';
import { ApiKey } from './api-key.entity.js';
import { AuditReader } from './audit-reader.js';
import { StoredAuditRecord } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { Authenticator } from './authenticator.js';
import { BanRecords } from './ban-records.js';
import { CallerEvents } from './caller-events.js';
import { Gatekeeper } from './gatekeeper.js';
import { KeyDirectory } from './key-directory.js';
import { KeyList } from './key-list.js';
import { KeysService } from './keys.service.js';
import { LastUses } from './last-uses.js';
import { type DeclaredScopes, Scopes } from './scopes.js';
import type { TokenVerifier } from './verifier.js';
import { Verifiers } from './verifiers.js';
import { Clock } from '../time/clock.js';

/** Keys as operators see them: issue, rotate, revoke. */
@Module({})
export class KeysModule {
  /** @param scopes of extensions */
  static forRoot(scopes: readonly DeclaredScopes[]): DynamicModule {
    return {
      module: KeysModule,
      imports: [TypeOrmModule.forFeature([ApiKey, ApiKeyUse, StoredAuditRecord]), RateLimitsModule],
      providers: [
        KeysService,
        KeyList,
        AuditTrail,
        AuditReader,
        { provide: Scopes, useValue: new Scopes(scopes) },
      ],
      exports: [KeysService, KeyList, AuditTrail, AuditReader, Scopes, RateLimitsModule],
    };
  }
}

/** Keys as a server sees them: it recognises callers, counts them, and keeps both up to date. */
@Module({})
export class AuthenticationModule {
  /**
   * @param counts whether this process counts, if only while Redis is away
   * @param verifiers of extensions
   */
  static forRoot(
    counts: boolean,
    verifiers: readonly (TokenVerifier | Type<TokenVerifier>)[],
  ): DynamicModule {
    return {
      module: AuthenticationModule,
      imports: [RateLimitsModule],
      providers: [
        ...(counts ? [CounterJournal] : []),
        {
          provide: Verifiers,
          inject: [ModuleRef, Clock],
          useFactory: (modules: ModuleRef, clock: Clock) =>
            new Verifiers(verifiers, modules, clock),
        },
        KeyDirectory,
        LastUses,
        Authenticator,
        Gatekeeper,
        AuditTrail,
        BanRecords,
        CallerEvents,
      ],
      exports: [Authenticator, Gatekeeper, RateLimitsModule],
    };
  }
}
