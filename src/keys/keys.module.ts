import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { ApiKey } from './api-key.entity.js';
import { AuditRecord } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { KeyList } from './key-list.js';
import { KeysService } from './keys.service.js';
import { type DeclaredScopes, Scopes } from './scopes.js';

/** Manages keys, in a server and on the command line. */
@Module({})
export class KeysModule {
  /** @param scopes those of extensions */
  static forRoot(scopes: readonly DeclaredScopes[]): DynamicModule {
    return {
      module: KeysModule,
      imports: [TypeOrmModule.forFeature([ApiKey, AuditRecord]), RateLimitsModule],
      providers: [
        KeysService,
        KeyList,
        AuditTrail,
        { provide: Scopes, useValue: new Scopes(scopes) },
      ],
      exports: [KeysService, KeyList, AuditTrail, Scopes, RateLimitsModule],
    };
  }
}
