import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { Poller } from '../database/poller.js';
import { Statement } from '../database/statement.js';
import { Logger } from '../telemetry/logger.js';
import { type AuditAction, type AuditRecord, isoTime, type State } from './audit-record.js';
import { logAudit } from './audit-trail.js';

interface Row {
  id: string;
  at: number | string;
  action: AuditAction;
  actorName: string;
  target: string;
  before: string | null;
  after: string | null;
}

/** More than anybody does by hand between two looks. */
const MOST = 1_000;

const SELECT = `SELECT id, at, action, actor_name AS "actorName", target, "before", "after"
  FROM audit_records WHERE actor_type = 'cli'`;
/** Whoever says it so late does so no more. */
const LATE_MS = 10_000;
/** From where on a trail, however long, has something to say. */
const START = new Statement<{ startMs: number | string }>(
  'audit.start',
  ({ nowMs }) => `SELECT ${nowMs} - ${LATE_MS} AS "startMs"`,
);
const SINCE = new Statement<Row>(
  'audit.since',
  () => `${SELECT} AND at >= $1 ORDER BY at LIMIT ${MOST}`,
);

/** The command line has no log: what was done there is said in that of each server, within a second. */
@Injectable()
export class AuditWatch {
  private said: Set<string> | undefined;
  private latestMs = 0;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
    poller: Poller,
  ) {
    poller.watch((sinceMs) => this.look(sinceMs));
  }

  private async look(sinceMs: number | undefined): Promise<void> {
    if (this.said === undefined) {
      const [row] = await this.engine.observe(START);
      this.latestMs = Number(row!.startMs);
    }
    const rows = await this.engine.observe(SINCE, sinceMs ?? this.latestMs);
    // What was done before the start is in the log of who ran then.
    const news = this.said === undefined ? [] : rows.filter(({ id }) => !this.said!.has(id));
    for (const row of news) logAudit(this.logger, doneByHand(row));
    for (const { at } of rows) this.latestMs = Math.max(this.latestMs, Number(at));
    const isFull = this.said === undefined || this.said.size > 2 * MOST;
    this.said = new Set([...(isFull ? [] : this.said!), ...rows.map(({ id }) => id)]);
  }
}

/** What others than this process have done, all of it by the command line. */
function doneByHand({ id, at, action, actorName, target, before, after }: Row): AuditRecord {
  return {
    id,
    at: isoTime(at)!,
    action,
    actor: { type: 'cli', name: actorName },
    target,
    address: null,
    requestId: null,
    before: before === null ? null : (JSON.parse(before) as State),
    after: after === null ? null : (JSON.parse(after) as State),
  };
}
