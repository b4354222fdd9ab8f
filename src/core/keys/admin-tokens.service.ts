import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { errors } from '../errors/errors.js';
import { Clock } from '../time/clock.js';
import { isoTime } from '../time/windows.js';
import { ADMIN_PREFIX, digestOf, isWellFormedKey, mintId, mintKey } from './api-key-format.js';
import type { Initiator } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { type AdminRole, AdminToken } from './admin-token.entity.js';

export interface NewAdminToken {
  name: string;
  role?: AdminRole | undefined;
  /** Unix milliseconds; never by default. */
  expiresAt?: number | null | undefined;
}

/** Issues, finds and revokes the tokens of the admin API. */
@Injectable()
export class AdminTokens {
  constructor(
    @InjectRepository(AdminToken) private readonly tokens: Repository<AdminToken>,
    private readonly audit: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** @returns the token itself, which is not stored and cannot be shown again */
  issue({ name, role = 'operator', expiresAt = null }: NewAdminToken, by: Initiator) {
    return this.audit.write(by, async ({ manager, nowMs, record }) => {
      const id = mintId('adm');
      const token = mintKey(ADMIN_PREFIX);
      const row = { id, name, role, digest: digestOf(token), createdAt: nowMs, expiresAt };
      await manager.insert(AdminToken, row);
      const terms = { name, role, expiresAt: isoTime(expiresAt) };
      await record({ action: 'admin.issue', target: id, before: null, after: terms });
      return { id, ...terms, token };
    });
  }

  list(): Promise<AdminToken[]> {
    return this.tokens.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** @throws {ApiError} 404 if there is no such token */
  revoke(id: string, by: Initiator): Promise<AdminToken> {
    return this.audit.write(by, async ({ manager, nowMs, record }) => {
      const values = { revokedAt: nowMs };
      const { affected } = await manager.update(AdminToken, { id, revokedAt: IsNull() }, values);
      const token = await manager.findOneBy(AdminToken, { id });
      if (token === null) throw errors.not_found(`no admin token has the ID ${id}`);
      const terms = { role: token.role, expiresAt: isoTime(token.expiresAt) };
      const [before, after] = [{ revokedAt: null }, { revokedAt: isoTime(nowMs), ...terms }];
      if (affected) await record({ action: 'admin.revoke', target: id, before, after });
      return token;
    });
  }

  /** Finds a valid token. It is not cached, so that a revoked one is rejected immediately. */
  async find(token: string): Promise<AdminToken | null> {
    if (!isWellFormedKey(token, ADMIN_PREFIX)) return null;
    const found = await this.tokens.findOneBy({ digest: digestOf(token), revokedAt: IsNull() });
    return (found?.expiresAt ?? Infinity) > this.clock.now() ? found : null;
  }
}
