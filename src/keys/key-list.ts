import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { RateLimitBan } from '../rate-limits/bans/rate-limit-ban.entity.js';
import type { PlanName } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { ApiKey } from './api-key.entity.js';

const VALID = 'key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > :now)';
const STATUS = {
  active: `${VALID} AND COALESCE(ban.banned_until, 0) <= :now`,
  banned: `${VALID} AND ban.banned_until > :now`,
  expired: 'key.revoked_at IS NULL AND key.expires_at <= :now',
  revoked: 'key.revoked_at IS NOT NULL',
};

export type KeyStatus = keyof typeof STATUS;

/** A key, and the end of its client's ban in Unix milliseconds, null if it is not banned. */
export type ListedKey = ApiKey & { bannedUntilMs: number | null };

/** Conditions that a listed key meets, all of them. */
export interface KeyFilter {
  id?: string | undefined;
  plan?: PlanName | undefined;
  status?: KeyStatus | undefined;
  /** A part of the name, the id of the key or its client, or the last four characters of the key. */
  search?: string | undefined;
  /** Valid keys that were not used, or if never used not issued, within this number of days. */
  idleDays?: number | undefined;
  /** Valid keys that were never used. */
  neverUsed?: boolean | undefined;
  /** Valid keys that expire within this number of days. */
  expiresWithinDays?: number | undefined;
  /** Start after the key with this id. */
  after?: string | undefined;
  limit?: number | undefined;
}

const SEARCH = `(LOWER(key.name) LIKE LOWER(:part) ESCAPE '!' OR key.id = :text
  OR key.client_id = :text OR key.last_four = :text)`;
const AFTER = `(key.created_at, key.id) >
  (SELECT previous.created_at, previous.id FROM api_keys previous WHERE previous.id = :after)`;

/** Lists keys for operators, in the order of their creation. */
@Injectable()
export class KeyList {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly clock: Clock,
  ) {}

  async find(filter: KeyFilter = {}): Promise<ListedKey[]> {
    const nowMs = this.clock.now();
    const { entities, raw } = await this.query(filter, nowMs).getRawAndEntities<{
      bannedUntil: number | string | null;
    }>();
    return entities.map((key, index) => {
      const until = Number(raw[index]!.bannedUntil ?? 0);
      return Object.assign(key, { bannedUntilMs: until > nowMs ? until : null });
    });
  }

  private query(filter: KeyFilter, nowMs: number): SelectQueryBuilder<ApiKey> {
    const { id, plan, status, search, idleDays, neverUsed, expiresWithinDays, after } = filter;
    const query = this.keys
      .createQueryBuilder('key')
      .leftJoin(RateLimitBan, 'ban', 'ban.subject = key.client_id')
      .addSelect('ban.banned_until', 'bannedUntil')
      .setParameters({ now: nowMs })
      .orderBy('key.createdAt', 'ASC')
      .addOrderBy('key.id', 'ASC')
      .limit(filter.limit);
    if (id !== undefined) query.andWhere('key.id = :id', { id });
    if (plan !== undefined) query.andWhere('key.plan = :plan', { plan });
    if (search !== undefined) {
      const part = `%${search.replace(/[!%_]/g, '!$&')}%`;
      query.andWhere(SEARCH, { part, text: search });
    }
    if (neverUsed) query.andWhere('key.last_used_at IS NULL');
    if (idleDays !== undefined) {
      const since = nowMs - idleDays * DAY_MS;
      query.andWhere('COALESCE(key.last_used_at, key.created_at) < :since', { since });
    }
    if (expiresWithinDays !== undefined) {
      query.andWhere('key.expires_at < :end', { end: nowMs + expiresWithinDays * DAY_MS });
    }
    if (after !== undefined) query.andWhere(AFTER, { after });
    const findsValid = neverUsed || idleDays !== undefined || expiresWithinDays !== undefined;
    if (status !== undefined) query.andWhere(STATUS[status]);
    else if (findsValid) query.andWhere(VALID);
    return query;
  }
}
