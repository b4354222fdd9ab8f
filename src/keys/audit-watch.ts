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

/** More than anybody does by hand between two looks; what is more is asked for behind it. */
const PAGE = 1_000;

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
  () => `${SELECT} AND (at, id) > ($1, $2) ORDER BY at, id LIMIT ${PAGE}`,
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
    const said = this.said ?? new Set();
    const found = new Set<string>();
    let after: readonly [number | string, string] = [sinceMs ?? this.latestMs, ''];
    for (;;) {
      const rows = await this.engine.observe(SINCE, ...after);
      for (const row of rows) {
        found.add(row.id);
        // What was done before the start is in the log of who ran then.
        if (this.said !== undefined && !said.has(row.id)) logAudit(this.logger, doneByHand(row));
        // At once: the next page may fail, and this one is not to be said again.
        said.add(row.id);
        this.latestMs = Math.max(this.latestMs, Number(row.at));
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) break;
      after = [last.at, last.id];
    }
    this.said = new Set([...(said.size > 2 * PAGE ? [] : said), ...found]);
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
