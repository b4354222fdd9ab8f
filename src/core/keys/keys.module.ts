import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AdminToken } from './admin-token.entity.js';
import { AdminTokens } from './admin-tokens.service.js';
import { ApiKey } from './api-key.entity.js';
import { AuditRecord } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { Authenticator } from './authenticator.js';
import { CallerEvents } from './caller-events.js';
import { InsecureRequests } from './https.guard.js';
import { KeyCache } from './key-cache.js';
import { KeyMetrics } from './key-metrics.js';
import { KeyList } from './key-list.js';
import { KeysService } from './keys.service.js';
import { LastUses } from './last-uses.js';
import { type DeclaresScopes, Scopes } from './scopes.js';
import { type NamedVerifier, VERIFIERS, Verifiers } from './verifiers.js';

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
   * @param extensions whose scopes a key can have
   * @param verifiers those of extensions; undefined on the command line
   */
  static forRoot(
    extensions: readonly DeclaresScopes[],
    verifiers?: readonly NamedVerifier[],
  ): DynamicModule {
    const ofServer = [
      { provide: VERIFIERS, useValue: verifiers },
      Verifiers,
      KeyMetrics,
      KeyCache,
      LastUses,
      Authenticator,
      InsecureRequests,
      CallerEvents,
    ];
    const providers = [
      { provide: Scopes, useValue: new Scopes(extensions) },
      ...(verifiers ? ofServer : []),
    ];
    return { module: KeysModule, global: true, providers, exports: providers };
  }
}
