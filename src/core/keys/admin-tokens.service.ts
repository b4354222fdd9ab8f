import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { errors } from '../errors/errors.js';
import { isoTime } from '../time/windows.js';
import { ADMIN_PREFIX, digestOf, isWellFormedKey, mintId, mintKey } from './api-key-format.js';
import type { Initiator } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { AdminToken } from './admin-token.entity.js';

/** Issues, finds and revokes the tokens of the admin API. */
@Injectable()
export class AdminTokens {
  constructor(
    @InjectRepository(AdminToken) private readonly tokens: Repository<AdminToken>,
    private readonly audit: AuditTrail,
  ) {}

  /** @returns the token itself, which is not stored and cannot be shown again */
  issue(name: string, by: Initiator): Promise<{ id: string; name: string; token: string }> {
    return this.audit.write(by, async ({ manager, nowMs, record }) => {
      const id = mintId('adm');
      const token = mintKey(ADMIN_PREFIX);
      const row = { id, name, digest: digestOf(token), createdAt: nowMs, revokedAt: null };
      await manager.insert(AdminToken, row);
      await record({ action: 'admin.issue', target: id, before: null, after: { name } });
      return { id, name, token };
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
      const [before, after] = [{ revokedAt: null }, { revokedAt: isoTime(nowMs) }];
      if (affected) await record({ action: 'admin.revoke', target: id, before, after });
      return token;
    });
  }

  /** Finds a valid token. It is not cached, so that a revoked one is rejected immediately. */
  async find(token: string): Promise<AdminToken | null> {
    if (!isWellFormedKey(token, ADMIN_PREFIX)) return null;
    return this.tokens.findOneBy({ digest: digestOf(token), revokedAt: IsNull() });
  }
}
