import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, Raw } from 'typeorm';
import { databaseNow } from '../../database/database-time.js';
import { Database, type Statement } from '../../database/database.js';
import { DAY_MS } from '../../time/windows.js';
import type { RateLimitKey } from '../rate-limit-key.js';
import type { Ban } from './bans.js';
import { RateLimitBan } from './rate-limit-ban.entity.js';

export interface SubjectBan {
  subject: RateLimitKey;
  ban: Ban;
}

type BanRow = Record<'bannedAt' | 'bannedUntil' | 'bans', number | string> & {
  subject: RateLimitKey;
};

const CHANGED_SINCE_TEXT = `SELECT subject, bans, banned_at AS "bannedAt", banned_until AS "bannedUntil"
  FROM rate_limit_bans WHERE changed_at >= $1`;
const CHANGED_SINCE: Statement = {
  name: 'bans.changed-since',
  sqlite: CHANGED_SINCE_TEXT,
  postgres: CHANGED_SINCE_TEXT,
};

/** The last ban of each subject in the database, so that bans survive restarts and reach every node. */
@Injectable()
export class BanRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  /** Saves a ban. @returns false if this ban is saved already */
  async record(
    subject: RateLimitKey,
    { at, until, bans }: Ban,
    manager: EntityManager,
  ): Promise<boolean> {
    const rows = await manager.sql<unknown[]>`
      INSERT INTO rate_limit_bans (subject, banned_at, banned_until, bans, changed_at)
      VALUES (${subject}, ${at}, ${until}, ${bans}, ${() => databaseNow(this.dataSource)})
      ON CONFLICT (subject) DO UPDATE SET banned_at = excluded.banned_at,
        banned_until = excluded.banned_until, bans = excluded.bans, changed_at = excluded.changed_at
      WHERE rate_limit_bans.banned_at <> excluded.banned_at
      RETURNING subject`;
    return rows.length > 0;
  }

  /**
   * Ends a ban. A ban that was lifted before is announced to the servers again: one of them may have missed it.
   * @returns the end of the lifted ban in Unix milliseconds, 0 if there was none
   */
  async lift(subject: RateLimitKey, manager: EntityManager): Promise<number> {
    const ban = await manager.findOneBy(RateLimitBan, { subject });
    if (ban === null) return 0;
    const { bannedUntil } = ban;
    const { affected } = await manager.update(
      RateLimitBan,
      { subject, bannedUntil },
      { bannedUntil: 0, changedAt: () => databaseNow(this.dataSource) },
    );
    return affected ? bannedUntil : 0;
  }

  async find(subject: RateLimitKey): Promise<Ban | undefined> {
    const bans = toBans(await this.dataSource.manager.findBy(RateLimitBan, { subject }));
    return bans[0]?.ban;
  }

  /** Every ban that is in force or lengthens the next one. */
  async all(): Promise<SubjectBan[]> {
    const changedAt = Raw((column) => `${column} >= ${databaseNow(this.dataSource)} - ${DAY_MS}`);
    return toBans(await this.dataSource.manager.findBy(RateLimitBan, { changedAt }));
  }

  /** Bans that started or were lifted since a moment of the database's clock. */
  async changedSince(ms: number): Promise<SubjectBan[]> {
    return toBans(await this.database.observe<BanRow>(CHANGED_SINCE, ms));
  }
}

function toBans(rows: readonly BanRow[]): SubjectBan[] {
  return rows.map(({ subject, bannedAt, bannedUntil, bans }) => ({
    subject,
    ban: { at: Number(bannedAt), until: Number(bannedUntil), bans: Number(bans) },
  }));
}
