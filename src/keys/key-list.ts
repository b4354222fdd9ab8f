import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { errors } from '../errors/errors.js';
import { RateLimitBan } from '../rate-limits/bans/rate-limit-ban.entity.js';
import { Plans } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf } from './api-key-format.js';
import { type KeyView, keyView } from './key-views.js';

const CURRENT = 'key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > :now)';
const VALID = `${CURRENT} AND key.disabled_at IS NULL`;
const STATUS = {
  active: `${VALID} AND COALESCE(ban.banned_until, 0) <= :now`,
  banned: `${VALID} AND ban.banned_until > :now`,
  disabled: `${CURRENT} AND key.disabled_at IS NOT NULL`,
  expired: 'key.revoked_at IS NULL AND key.expires_at <= :now',
  revoked: 'key.revoked_at IS NOT NULL',
};

export type KeyStatus = keyof typeof STATUS;
export const KEY_STATUSES = Object.keys(STATUS) as KeyStatus[];

/** Conditions that a listed key meets, all of them. */
export interface KeyFilter {
  id?: string | undefined;
  plan?: string | undefined;
  status?: KeyStatus | undefined;
  /**
   * A part of the name, the id of the key or its client, the last four characters of the key, or
   * the key.
   */
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

/** The condition of each filter that is given. */
const CONDITIONS = {
  id: 'key.id = :id',
  plan: 'key.plan = :plan',
  search: `(LOWER(key.name) LIKE LOWER(:part) ESCAPE '!' OR key.id = :search
    OR key.client_id = :search OR key.last_four = :search OR key.digest = :digest)`,
  idleDays: `${VALID} AND COALESCE(key.last_used_at, key.created_at) < :idleSince`,
  neverUsed: `${VALID} AND key.last_used_at IS NULL`,
  expiresWithinDays: `${VALID} AND key.expires_at < :expiresBefore`,
  after: `(key.created_at, key.id) >
    (SELECT previous.created_at, previous.id FROM api_keys previous WHERE previous.id = :after)`,
};

/** Lists keys for operators, in the order of their creation. */
@Injectable()
export class KeyList {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly plans: Plans,
  ) {}

  async find(filter: KeyFilter = {}): Promise<KeyView[]> {
    const found = (await this.query(filter).getMany()) as (ApiKey & { ban: RateLimitBan | null })[];
    const now = this.clock.now();
    return found.map((key) => {
      const until = key.ban?.until ?? 0;
      return keyView(key, until > now ? until : null, this.plans);
    });
  }

  /** @throws {ApiError} 404 if there is no such key */
  async get(id: string): Promise<KeyView> {
    const [key] = await this.find({ id });
    if (key === undefined) throw errors.not_found(`no key has the ID ${id}`);
    return key;
  }

  count(filter: KeyFilter): Promise<number> {
    return this.query(filter).getCount();
  }

  private query(filter: KeyFilter): SelectQueryBuilder<ApiKey> {
    const now = this.clock.now();
    const { status, search = '', idleDays = 0, expiresWithinDays = 0, limit } = filter;
    const query = this.dataSource
      .createQueryBuilder(ApiKey, 'key')
      .leftJoinAndMapOne('key.ban', RateLimitBan, 'ban', 'ban.key = key.client_id')
      .setParameters({
        ...filter,
        now,
        part: `%${search.replace(/[!%_]/g, '!$&')}%`,
        digest: digestOf(search),
        idleSince: now - idleDays * DAY_MS,
        expiresBefore: now + expiresWithinDays * DAY_MS,
      })
      .orderBy({ 'key.createdAt': 'ASC', 'key.id': 'ASC' })
      .limit(limit);
    if (status !== undefined) query.andWhere(STATUS[status]);
    for (const [name, condition] of Object.entries(CONDITIONS)) {
      if (filter[name as keyof KeyFilter] !== undefined) query.andWhere(condition);
    }
    return query;
  }
}
