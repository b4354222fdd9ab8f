import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { databaseNow } from '../../database/database-time.js';
import { Engine } from '../../database/engine.js';
import { Statement } from '../../database/statement.js';
import type { Ban } from './bans.js';
import { RateLimitBan } from './rate-limit-ban.entity.js';
import { DAY_MS } from '../../time/windows.js';

interface BanRow {
  subject: string;
  at: number | string;
  until: number | string;
  bans: number;
}

const COLUMNS = 'subject, banned_at AS "at", banned_until AS "until", bans';

const FIND = new Statement<BanRow>(
  'bans.find',
  () => `SELECT ${COLUMNS} FROM rate_limit_bans WHERE subject = $1`,
);
const CHANGED_WITHIN = new Statement<BanRow>(
  'bans.changed-within',
  ({ nowMs }) => `SELECT ${COLUMNS} FROM rate_limit_bans WHERE changed_at >= ${nowMs} - $1`,
);
const CHANGED_SINCE = new Statement<BanRow>(
  'bans.changed-since',
  () => `SELECT ${COLUMNS} FROM rate_limit_bans WHERE changed_at >= $1`,
);

/** Bans and their history as the database keeps them: they outlive every process, and reach every node. */
@Injectable()
export class BanLedger {
  constructor(private readonly engine: Engine) {}

  /** Saves a ban. @returns false if this ban is saved already */
  async record(
    subject: string,
    { at, until, bans }: Ban,
    manager: EntityManager,
  ): Promise<boolean> {
    const rows = await manager.sql<unknown[]>`
      INSERT INTO rate_limit_bans (subject, banned_at, banned_until, bans, changed_at)
      VALUES (${subject}, ${at}, ${until}, ${bans}, ${() => databaseNow(manager.dataSource)})
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
  async lift(subject: string, manager: EntityManager): Promise<number> {
    const ban = await manager.findOneBy(RateLimitBan, { subject });
    if (ban === null) return 0;
    const { bannedUntil } = ban;
    const { affected } = await manager.update(
      RateLimitBan,
      { subject, bannedUntil },
      { bannedUntil: 0, changedAt: () => databaseNow(manager.dataSource) },
    );
    return affected ? bannedUntil : 0;
  }

  async find(subject: string): Promise<Ban | undefined> {
    const row = await this.engine.first(FIND, subject);
    return row && toBan(row);
  }

  /** Every ban that may still count. */
  async all(): Promise<SubjectBan[]> {
    return toSubjectBans(await this.engine.query(CHANGED_WITHIN, DAY_MS));
  }

  /** Bans that began, or were lifted, since a moment by the database's clock. */
  async changedSince(ms: number): Promise<SubjectBan[]> {
    return toSubjectBans(await this.engine.observe(CHANGED_SINCE, ms));
  }
}

export interface SubjectBan {
  subject: string;
  ban: Ban;
}

function toSubjectBans(rows: readonly BanRow[]): SubjectBan[] {
  return rows.map((row) => ({ subject: row.subject, ban: toBan(row) }));
}

function toBan({ at, until, bans }: BanRow): Ban {
  return { at: Number(at), until: Number(until), bans };
}
