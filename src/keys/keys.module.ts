import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminToken } from './admin-token.entity.js';
import { AdminTokens } from './admin-tokens.service.js';
import { ApiKey } from './api-key.entity.js';
import { AuditRecord } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { Authenticator } from './authenticator.js';
import { CallerEvents } from './caller-events.js';
import { KeyCache } from './key-cache.js';
import { KeyMetrics } from './key-metrics.js';
import { KeyList } from './key-list.js';
import { KeysService } from './keys.service.js';
import { LastUses } from './last-uses.js';
import { type DeclaredScopes, Scopes } from './scopes.js';
import { type TokenVerifier, VERIFIERS, Verifiers } from './verifiers.js';

/**
 * Manages keys and admin tokens, on the command line and in a server. In a server, it also
 * identifies and counts callers.
 */
@Module({
  imports: [TypeOrmModule.forFeature([ApiKey, AdminToken, AuditRecord])],
  providers: [KeysService, KeyList, AdminTokens, AuditTrail],
  exports: [KeysService, KeyList, AdminTokens, AuditTrail],
})
export class KeysModule {
  /**
   * @param scopes those of extensions
   * @param verifiers those of extensions; undefined on the command line
   */
  static forRoot(
    scopes: readonly DeclaredScopes[],
    verifiers?: readonly (TokenVerifier | Type<TokenVerifier>)[],
  ): DynamicModule {
    const declared = { provide: Scopes, useValue: new Scopes(scopes) };
    const shared = { module: KeysModule, global: true };
    if (!verifiers) return { ...shared, providers: [declared], exports: [Scopes] };
    const given = { provide: VERIFIERS, useValue: verifiers };
    const ofServer = [Verifiers, KeyMetrics, KeyCache, LastUses, Authenticator, CallerEvents];
    return {
      ...shared,
      providers: [declared, given, ...ofServer],
      exports: [Scopes, Authenticator, KeyMetrics],
    };
  }
}
