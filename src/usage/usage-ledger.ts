import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { Journal } from '../database/journal.js';
import { run, Statement } from '../database/statement.js';

/** How often a client was answered so within an hour, as one process has counted it. */
export interface UsageCount {
  clientId: string;
  /** Since the epoch. */
  hour: number;
  writer: string;
  status: number;
  code: string;
  used: number;
}

/** Why a request was refused, or failed. */
export interface Refusal {
  /** Unix milliseconds. */
  at: number;
  code: string;
  operation: string;
  address: string;
}

/** So many of each client are told of. */
export const LATEST_TOLD = 10;

/** The latest at the end. */
export interface RefusalsOfClient {
  clientId: string;
  writer: string;
  refusals: readonly Refusal[];
}

/** Hours that several processes have counted, together. */
export interface UsedInHour {
  hour: number;
  status: number;
  code: string;
  used: number;
}

/** As the database keeps one. */
const LONGEST_ID = 64;

export function toSavedId(clientId: string): string {
  return clientId.slice(0, LONGEST_ID);
}

const COLUMNS = 'client_id, hour, writer, status, code, used';
/** The columns of each count in an array of them. */
const ENTRY = `SELECT entry.value ->> 0 AS client_id, CAST(entry.value ->> 1 AS bigint) AS hour,
  entry.value ->> 2 AS writer, CAST(entry.value ->> 3 AS integer) AS status,
  entry.value ->> 4 AS code, CAST(entry.value ->> 5 AS bigint) AS used`;

/** A count never shrinks: one that arrives twice, or late, changes nothing. */
const SAVE = new Statement(
  'usage.save',
  ({ elements }) => `INSERT INTO usage_hours (${COLUMNS})
    ${ENTRY} FROM ${elements('$1', 'entry')} WHERE true
    ON CONFLICT (client_id, hour, writer, status, code) DO UPDATE SET used = excluded.used
    WHERE excluded.used > usage_hours.used`,
);
const SAVE_REFUSALS = new Statement(
  'usage.save-refusals',
  () => `INSERT INTO usage_refusals (client_id, writer, refusals, at) VALUES ($1, $2, $3, $4)
    ON CONFLICT (client_id, writer) DO UPDATE SET refusals = excluded.refusals, at = excluded.at`,
);
const USED_SINCE = new Statement<Record<keyof UsedInHour, number | string>>(
  'usage.used-since',
  ({ elements, contains }) => `SELECT hour, status, code, SUM(used) AS used FROM (
      SELECT hour, status, code, writer, MAX(used) AS used FROM (
        SELECT ${COLUMNS} FROM usage_hours WHERE client_id = $1 AND hour >= $2
        UNION ALL
        SELECT ${COLUMNS} FROM (
          ${ENTRY} FROM usage_journal, ${elements('usage_journal.counts', 'entry')}
          WHERE ${contains('usage_journal.counts', '$3')}
        ) journalled
        WHERE client_id = $4 AND hour >= $5
      ) told GROUP BY hour, status, code, writer
    ) counted GROUP BY hour, status, code ORDER BY hour, status, code`,
);
const REFUSALS_OF = new Statement<{ refusals: string }>(
  'usage.refusals-of',
  () => 'SELECT refusals FROM usage_refusals WHERE client_id = $1 ORDER BY at DESC LIMIT 100',
);
const FORGET_HOURS = new Statement(
  'usage.forget-hours',
  () => `DELETE FROM usage_hours WHERE (client_id, hour, writer, status, code) IN
    (SELECT client_id, hour, writer, status, code FROM usage_hours WHERE hour < $1 LIMIT $2)
    RETURNING 1`,
);
const FORGET_REFUSALS = new Statement(
  'usage.forget-refusals',
  () => `DELETE FROM usage_refusals WHERE (client_id, writer) IN
    (SELECT client_id, writer FROM usage_refusals WHERE at < $1 LIMIT $2) RETURNING 1`,
);

/** What clients have used, as the database keeps it. */
@Injectable()
export class UsageLedger {
  /** What was counted, until it is brought to its hours. */
  readonly journal: Journal;

  constructor(private readonly engine: Engine) {
    this.journal = new Journal(engine, 'usage_journal', SAVE);
  }

  /** One entry, however many counts: that of an hour is written when it has changed for a while. */
  append(writer: string, sequence: number, batch: readonly UsageCount[]): Promise<void> {
    return this.journal.append(writer, sequence, batch.map(toColumns));
  }

  save(batch: readonly UsageCount[]): Promise<void> {
    return this.journal.save(batch.map(toColumns));
  }

  async saveRefusals(batch: readonly RefusalsOfClient[]): Promise<void> {
    await this.engine.write(function* () {
      for (const { clientId, writer, refusals } of batch) {
        const { at } = refusals.at(-1)!;
        yield* run(SAVE_REFUSALS, clientId, writer, JSON.stringify(refusals), at);
      }
    });
  }

  async usedSince(clientId: string, hour: number): Promise<UsedInHour[]> {
    const inJson = JSON.stringify(clientId);
    const rows = await this.engine.query(USED_SINCE, clientId, hour, inJson, clientId, hour);
    return rows.map((row) => ({
      hour: Number(row.hour),
      status: Number(row.status),
      code: String(row.code),
      used: Number(row.used),
    }));
  }

  /** The latest first. */
  async refusalsOf(clientId: string): Promise<Refusal[]> {
    const rows = await this.engine.query(REFUSALS_OF, clientId);
    const refusals = rows.flatMap((row) => (JSON.parse(row.refusals) as Refusal[]).reverse());
    return refusals.sort((one, other) => other.at - one.at);
  }

  async forgetHours(before: number, rows: number): Promise<number> {
    return (await this.engine.write(() => run(FORGET_HOURS, before, rows))).length;
  }

  async forgetRefusals(beforeMs: number, rows: number): Promise<number> {
    return (await this.engine.write(() => run(FORGET_REFUSALS, beforeMs, rows))).length;
  }
}

function toColumns({
  clientId,
  hour,
  writer,
  status,
  code,
  used,
}: UsageCount): [string, ...unknown[]] {
  return [clientId, hour, writer, status, code, used];
}
