import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { run, Statement } from '../database/statement.js';
import type { Ban } from './bans.js';
import { DAY_MS } from './windows.js';

interface BanRow {
  subject: string;
  at: number | string;
  until: number | string;
  bans: number;
}

const COLUMNS = 'subject, banned_at AS "at", banned_until AS "until", bans';

const RECORD = new Statement(
  'bans.record',
  ({ nowMs }) => `INSERT INTO rate_limit_bans (subject, banned_at, banned_until, bans, changed_at)
    VALUES ($1, $2, $3, $4, ${nowMs})
    ON CONFLICT (subject) DO UPDATE SET banned_at = excluded.banned_at,
      banned_until = excluded.banned_until, bans = excluded.bans, changed_at = excluded.changed_at`,
);
const LIFT = new Statement(
  'bans.lift',
  ({ nowMs }) =>
    `UPDATE rate_limit_bans SET banned_until = 0, changed_at = ${nowMs} WHERE subject = $1`,
);
const FIND = new Statement<BanRow>(
  'bans.find',
  () => `SELECT ${COLUMNS} FROM rate_limit_bans WHERE subject = $1`,
);
const CHANGED_WITHIN = new Statement<BanRow>(
  'bans.changed-within',
  ({ nowMs }) => `SELECT ${COLUMNS} FROM rate_limit_bans WHERE changed_at >= ${nowMs} - $1`,
);

/** Bans and their history as the database keeps them: they outlive every process, and reach every node. */
@Injectable()
export class BanLedger {
  constructor(private readonly engine: Engine) {}

  async record(subject: string, { at, until, bans }: Ban): Promise<void> {
    await this.engine.write(() => run(RECORD, subject, at, until, bans));
  }

  async lift(subject: string): Promise<void> {
    await this.engine.write(() => run(LIFT, subject));
  }

  async find(subject: string): Promise<Ban | undefined> {
    const row = await this.engine.first(FIND, subject);
    return row && toBan(row);
  }

  /** Every ban that may still count. */
  all(): Promise<SubjectBan[]> {
    return this.changedWithin(DAY_MS);
  }

  /** Bans that began, or were lifted, in the last milliseconds. */
  async changedWithin(ms: number): Promise<SubjectBan[]> {
    const rows = await this.engine.query(CHANGED_WITHIN, ms);
    return rows.map((row) => ({ subject: row.subject, ban: toBan(row) }));
  }
}

export interface SubjectBan {
  subject: string;
  ban: Ban;
}

function toBan({ at, until, bans }: BanRow): Ban {
  return { at: Number(at), until: Number(until), bans };
}
