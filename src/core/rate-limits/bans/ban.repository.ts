import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { databaseNow, NOW } from '../../database/database-time.js';
import { Database, sameStatement, type Statement } from '../../database/database.js';
import type { Ban } from './bans.js';
import { RateLimitBan } from './rate-limit-ban.entity.js';

/** PostgreSQL's driver returns bigint as text; a double holds these numbers exactly. */
const CHANGED_SINCE = sameStatement(
  'bans.changed-since',
  `SELECT rate_limit_key AS "key", CAST(bans AS double precision) AS bans,
    CAST(banned_at AS double precision) AS "at", CAST(banned_until AS double precision) AS "until"
  FROM rate_limit_bans WHERE changed_at >= $1`,
);

/** The rule of `mergeBans`. */
const record = (now: string): string => `
  INSERT INTO rate_limit_bans AS b (rate_limit_key, banned_at, banned_until, bans, changed_at)
  VALUES ($1, $2, $3, $4, ${now})
  ON CONFLICT (rate_limit_key) DO UPDATE SET
    banned_at = CASE WHEN excluded.banned_at > b.banned_at
      THEN excluded.banned_at ELSE b.banned_at END,
    banned_until = CASE WHEN excluded.banned_until > b.banned_until
      THEN excluded.banned_until ELSE b.banned_until END,
    bans = CASE WHEN excluded.banned_until > b.banned_until THEN excluded.bans ELSE b.bans END,
    changed_at = excluded.changed_at
  WHERE b.banned_until > 0 OR excluded.banned_at > b.banned_at`;
const RECORD: Statement = {
  name: 'bans.record',
  sqlite: record(NOW.sqlite),
  postgres: record(NOW.postgres),
};

/**
 * The last ban of each client in the database, so that bans survive restarts and reach every node.
 */
@Injectable()
export class BanRepository {
  constructor(private readonly database: Database) {}

  /** Records a ban, in the transaction that it is called in. */
  async record(key: string, { at, until, bans }: Ban): Promise<void> {
    await this.database.write(RECORD, key, at, until, bans);
  }

  /**
   * Ends the stored ban, and every ban that began before `nowMs`. The other nodes learn this even
   * if no ban is stored: one of them may have missed it, and a ban whose reply was lost is in Redis
   * alone.
   * @returns the end of the lifted ban in Unix milliseconds, 0 if there was none
   */
  async lift(key: string, nowMs: number, manager: EntityManager): Promise<number> {
    const changedAt = () => databaseNow(manager.dataSource);
    const ban = await manager.findOneBy(RateLimitBan, { key });
    // The clock that started the ban may be ahead.
    const lifted = { at: Math.max(nowMs, ban?.at ?? 0), until: 0, changedAt };
    if (ban === null) {
      const query = manager.createQueryBuilder().insert().into(RateLimitBan).orIgnore();
      await query.values({ key, bans: 0, ...lifted }).execute();
      return 0;
    }
    const { until } = ban;
    const { affected } = await manager.update(RateLimitBan, { key, until }, lifted);
    return affected ? until : 0;
  }

  /** Bans that started or were lifted since a moment of the database's clock. */
  changedSince(ms: number): Promise<(Ban & { key: string })[]> {
    return this.database.poll(CHANGED_SINCE, ms);
  }
}
