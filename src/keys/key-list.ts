import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { RateLimitBan } from '../rate-limits/bans/rate-limit-ban.entity.js';
import type { PlanName } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { ApiKeyUse } from './api-key-use.entity.js';
import { ApiKey } from './api-key.entity.js';

export type KeyStatus = 'active' | 'banned' | 'expired' | 'revoked';

/** Ascending; by its id where two are alike. */
export type KeyOrder = 'created' | 'name' | 'last-used' | 'expires';

/** A key, and until when its client is banned: Unix milliseconds. */
export type ListedKey = ApiKey & { bannedUntilMs: number | null };

/** Which keys are asked for: those that meet all of it. */
export interface KeyFilter {
  id?: string | undefined;
  plan?: PlanName | undefined;
  status?: KeyStatus | undefined;
  /** A part of the name, an id of key or client, or the last four characters of the key. */
  search?: string | undefined;
  /** Not used for so many days; or never, and issued before that. Of keys in force. */
  idleDays?: number | undefined;
  neverUsed?: boolean | undefined;
  expiresWithinDays?: number | undefined;
  /** By when they were made, where nothing is said. */
  sort?: KeyOrder | undefined;
  /** Behind the key with that id, in that order. */
  after?: string | undefined;
  limit?: number | undefined;
}

const REVOKED = 'key.revoked_at IS NOT NULL';
const EXPIRED = 'key.revoked_at IS NULL AND key.expires_at <= :now';
const IN_FORCE = 'key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > :now)';
const STATUS: Record<KeyStatus, string> = {
  active: `${IN_FORCE} AND (ban.banned_until IS NULL OR ban.banned_until <= :now)`,
  banned: `${IN_FORCE} AND ban.banned_until > :now`,
  expired: EXPIRED,
  revoked: REVOKED,
};
/** Of a use that a release of before has written down, and one of now, the later one; null where there is neither. */
const lastUse = (key: string, use: string): string =>
  `CASE WHEN ${use}.used_at < ${key}.last_used_at THEN ${key}.last_used_at
    ELSE COALESCE(${use}.used_at, ${key}.last_used_at) END`;
const LAST_USE = lastUse('key', 'latest');
/** What is not there is less, or more, than whatever is. */
const ORDERED_BY: Record<KeyOrder, (key: string, use: string) => string> = {
  created: (key) => `${key}.created_at`,
  name: (key) => `LOWER(${key}.name)`,
  'last-used': (key, use) => `COALESCE(${lastUse(key, use)}, 0)`,
  expires: (key) => `COALESCE(${key}.expires_at, ${Number.MAX_SAFE_INTEGER})`,
};
const NAMED = `(LOWER(key.name) LIKE LOWER(:part) ESCAPE '!' OR key.id = :text
  OR key.client_id = :text OR key.last_four = :text)`;

/** Keys as operators look for them, a page with one query. */
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
      lastUse: number | string | null;
    }>();
    return entities.map((key, index) => {
      const { bannedUntil, lastUse } = raw[index]!;
      const until = Number(bannedUntil ?? 0);
      return Object.assign(key, {
        bannedUntilMs: until > nowMs ? until : null,
        lastUsedAt: lastUse === null ? null : Number(lastUse),
      });
    });
  }

  private query(filter: KeyFilter, nowMs: number): SelectQueryBuilder<ApiKey> {
    const { id, plan, status, search, idleDays, neverUsed, expiresWithinDays, after } = filter;
    const order = ORDERED_BY[filter.sort ?? 'created'];
    const query = this.keys
      .createQueryBuilder('key')
      .leftJoin(RateLimitBan, 'ban', 'ban.subject = key.client_id')
      .leftJoin(ApiKeyUse, 'latest', 'latest.key_id = key.id')
      .addSelect('ban.banned_until', 'bannedUntil')
      .addSelect(LAST_USE, 'lastUse')
      .setParameters({ now: nowMs })
      .orderBy(order('key', 'latest'), 'ASC')
      .addOrderBy('key.id', 'ASC')
      .limit(filter.limit);
    if (id !== undefined) query.andWhere('key.id = :id', { id });
    if (plan !== undefined) query.andWhere('key.plan = :plan', { plan });
    if (search !== undefined) {
      const part = `%${search.replace(/[!%_]/g, '!$&')}%`;
      query.andWhere(NAMED, { part, text: search });
    }
    if (neverUsed) query.andWhere(`${LAST_USE} IS NULL`);
    if (idleDays !== undefined) {
      const since = nowMs - idleDays * DAY_MS;
      query.andWhere(`COALESCE(${LAST_USE}, key.created_at) < :since`, { since });
    }
    if (expiresWithinDays !== undefined) {
      query.andWhere('key.expires_at < :end', { end: nowMs + expiresWithinDays * DAY_MS });
    }
    if (after !== undefined) {
      query.andWhere(
        `(${order('key', 'latest')}, key.id) > (SELECT ${order('a', 'u')}, a.id FROM api_keys a
          LEFT JOIN api_key_uses u ON u.key_id = a.id WHERE a.id = :after)`,
        { after },
      );
    }
    const isHygiene = neverUsed || idleDays !== undefined || expiresWithinDays !== undefined;
    if (status !== undefined) query.andWhere(STATUS[status]);
    else if (isHygiene) query.andWhere(IN_FORCE);
    return query;
  }
}
