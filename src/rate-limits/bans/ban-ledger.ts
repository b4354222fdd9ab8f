import { Injectable } from '@nestjs/common';
import { Engine } from '../../database/engine.js';
import { run, Statement, type Work } from '../../database/statement.js';
import type { Ban } from './bans.js';
import { DAY_MS } from '../../time/windows.js';

interface BanRow {
  subject: string;
  at: number | string;
  until: number | string;
  bans: number;
}

const COLUMNS = 'subject, banned_at AS "at", banned_until AS "until", bans';

/** Each ban begins at a moment of its own: one that is known already is not written again. */
const RECORD = new Statement<{ bans: number }>(
  'bans.record',
  ({ nowMs }) => `INSERT INTO rate_limit_bans (subject, banned_at, banned_until, bans, changed_at)
    VALUES ($1, $2, $3, $4, ${nowMs})
    ON CONFLICT (subject) DO UPDATE SET banned_at = excluded.banned_at,
      banned_until = excluded.banned_until, bans = excluded.bans, changed_at = excluded.changed_at
    WHERE rate_limit_bans.banned_at <> excluded.banned_at
    RETURNING bans`,
);
const LIFT = new Statement<{ bans: number }>(
  'bans.lift',
  ({ nowMs }) => `UPDATE rate_limit_bans SET banned_until = 0, changed_at = ${nowMs}
    WHERE subject = $1 AND banned_until = $2 RETURNING bans`,
);
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

  /** Within a unit of work; whether that ban was not known yet. */
  *recording(subject: string, { at, until, bans }: Ban): Work<boolean> {
    return (yield* run(RECORD, subject, at, until, bans)).length > 0;
  }

  /**
   * Within a unit of work; until when the subject was banned before, 0 where nothing was lifted. A ban that was
   * lifted before is told of again: a node may have missed it.
   */
  *lifting(subject: string): Work<number> {
    const [row] = yield* run(FIND, subject);
    if (row === undefined) return 0;
    const until = Number(row.until);
    return (yield* run(LIFT, subject, until)).length > 0 ? until : 0;
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
