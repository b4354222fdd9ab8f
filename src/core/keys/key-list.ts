import { Injectable } from '@nestjs/common';
import { DataSource, type SelectQueryBuilder } from 'typeorm';
import { errors } from '../errors/errors.js';
import { RateLimitBan } from '../rate-limits/bans/rate-limit-ban.entity.js';
import { Plans } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf } from './api-key-format.js';
import type { Key } from './key.dto.js';
import { keyView } from './key-views.js';

const CURRENT = 'key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > :now)';
const VALID = `${CURRENT} AND key.disabled_at IS NULL`;
const STATUS = {
  active: `${VALID} AND COALESCE(ban.banned_until, 0) <= :now`,
  // SQLite would join every key with its ban.
  banned: `${VALID} AND key.client_id IN (SELECT banned.rate_limit_key FROM rate_limit_bans banned
    WHERE banned.banned_until > :now)`,
  disabled: `${CURRENT} AND key.disabled_at IS NOT NULL`,
  expired: 'key.revoked_at IS NULL AND key.expires_at <= :now',
  revoked: 'key.revoked_at IS NOT NULL',
};

export type KeyStatus = keyof typeof STATUS;
export const KEY_STATUSES = Object.keys(STATUS) as KeyStatus[];
export const KEY_ORDERS = ['oldest', 'newest'] as const;
export type KeyOrder = (typeof KEY_ORDERS)[number];

/** Matches a part of the name in any case. LOWER() and LIKE of SQLite know ASCII alone. */
const NAME = {
  postgres: "LOWER(key.name) LIKE LOWER(:part) ESCAPE '!'",
  sqlite: 'key.name GLOB :glob',
};

/** Conditions that a listed key meets, all of them. */
export interface KeyFilter {
  id?: string | undefined;
  plan?: string | undefined;
  status?: KeyStatus | undefined;
  /**
   * A part of the name in any case, the id of the key or its client, the last four characters of
   * the key, also as they are displayed (`...Ma5G`), or the key.
   */
  search?: string | undefined;
  /** The SHA-256 of the key, in hexadecimal. */
  digest?: string | undefined;
  /** Valid keys that were not used, or if never used not issued, within this number of days. */
  idleDays?: number | undefined;
  /** Valid keys that were never used. */
  neverUsed?: boolean | undefined;
  /** Valid keys that expire within this number of days. */
  expiresWithinDays?: number | undefined;
  /** Start after the key with this id, in the chosen order. */
  after?: string | undefined;
  /** The order of their creation. Default: the oldest first. */
  order?: KeyOrder | undefined;
  limit?: number | undefined;
}

/** The condition of each filter that is given. */
const CONDITIONS = {
  id: 'key.id = :id',
  plan: 'key.plan = :plan',
  digest: 'key.digest = :digest',
  idleDays: `${VALID} AND COALESCE(key.last_used_at, key.created_at) < :idleSince`,
  neverUsed: `${VALID} AND key.last_used_at IS NULL`,
  expiresWithinDays: `${VALID} AND key.expires_at < :expiresBefore`,
};
const PREVIOUS =
  '(SELECT previous.created_at, previous.id FROM api_keys previous WHERE previous.id = :after)';

function searchCondition(name: string): string {
  return `(${name} OR key.id = :search OR key.client_id = :search OR key.last_four = :lastFour
    OR key.digest = :digest)`;
}

/** The pattern of GLOB for a text in any case: `*[mM][üÜ]*`. `]` and `^` stand for themselves. */
function globOf(text: string): string {
  const classes = Array.from(text, (each) =>
    /[\]^]/.test(each) ? each : `[${each.toLowerCase()}${each.toUpperCase()}]`,
  );
  return `*${classes.join('')}*`;
}

function parametersOf(filter: KeyFilter, now: number) {
  const { search = '', digest, idleDays = 0, expiresWithinDays = 0 } = filter;
  return {
    ...filter,
    now,
    part: `%${search.replace(/[!%_]/g, '!$&')}%`,
    glob: globOf(search),
    lastFour: search.replace(/^(?:psk_)?\.{3}/, ''),
    digest: digest ? Buffer.from(digest, 'hex').toString('base64url') : digestOf(search),
    idleSince: now - idleDays * DAY_MS,
    expiresBefore: now + expiresWithinDays * DAY_MS,
  };
}

/** Lists keys for operators. */
@Injectable()
export class KeyList {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly plans: Plans,
  ) {}

  async find(filter: KeyFilter = {}): Promise<Key[]> {
    const found = (await this.query(filter).getMany()) as (ApiKey & { ban: RateLimitBan | null })[];
    const now = this.clock.now();
    return found.map((key) => {
      const until = key.ban?.until ?? 0;
      return keyView(key, until > now ? until : null, this.plans);
    });
  }

  /** @throws {ApiError} 404 if there is no such key */
  async get(id: string): Promise<Key> {
    const [key] = await this.find({ id });
    if (key === undefined) throw errors.not_found(`no key has the ID ${id}`);
    return key;
  }

  count(filter: KeyFilter): Promise<number> {
    return this.query(filter).getCount();
  }

  private query(filter: KeyFilter): SelectQueryBuilder<ApiKey> {
    const { status, search, limit } = filter;
    const isDescending = filter.order === 'newest';
    const direction = isDescending ? 'DESC' : 'ASC';
    const query = this.dataSource
      .createQueryBuilder(ApiKey, 'key')
      .leftJoinAndMapOne('key.ban', RateLimitBan, 'ban', 'ban.key = key.client_id')
      .setParameters(parametersOf(filter, this.clock.now()))
      .orderBy({ 'key.createdAt': direction, 'key.id': direction })
      .limit(limit);
    const isPostgres = this.dataSource.options.type === 'postgres';
    if (search) query.andWhere(searchCondition(isPostgres ? NAME.postgres : NAME.sqlite));
    if (filter.after !== undefined) {
      query.andWhere(`(key.created_at, key.id) ${isDescending ? '<' : '>'} ${PREVIOUS}`);
    }
    if (status !== undefined) query.andWhere(STATUS[status]);
    for (const [name, condition] of Object.entries(CONDITIONS)) {
      if (filter[name as keyof KeyFilter] !== undefined) query.andWhere(condition);
    }
    return query;
  }
}
