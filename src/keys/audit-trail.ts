import { Injectable } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { run, Statement, type Work } from '../database/statement.js';
import { Logger } from '../telemetry/logger.js';
import { mintId } from './api-key-format.js';
import { type AuditRecord, type Change, type Initiator, isoTime } from './audit-record.js';

/** Within a unit of work: records a change that the unit has made. */
export type Note = (change: Change) => Work<void>;

const INSERT = new Statement<{ at: number | string }>(
  'audit.insert',
  ({ nowMs }) => `INSERT INTO audit_records (id, action, actor_type, actor_name, target, address,
      request_id, "before", "after", at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, ${nowMs}) RETURNING at`,
);

/** Records who changed what in the transaction that changes it: neither is there without the other. */
@Injectable()
export class AuditTrail {
  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

  /** Runs a unit of work that notes what it changes; the log says the same once that is committed. */
  async write<Result>(by: Initiator, work: (note: Note) => Work<Result>): Promise<Result> {
    let records: AuditRecord[] = [];
    const result = await this.engine.write(() => {
      records = [];
      return work(function* (change) {
        records.push(yield* insert(by, change));
      });
    });
    for (const record of records) logAudit(this.logger, record);
    return result;
  }
}

export function logAudit(logger: Logger, audit: AuditRecord): void {
  const { actor, action, target, requestId } = audit;
  const request = requestId === null ? {} : { requestId };
  logger.info(
    { event: 'audit', ...request, audit },
    `Audit: ${actor.name} did ${action} to ${target}`,
  );
}

function* insert(by: Initiator, change: Change): Work<AuditRecord> {
  const { actor, address, requestId } = by;
  const { action, target, before, after } = change;
  const id = mintId('aud');
  const who = [actor.type, actor.name] as const;
  const states = [textOf(before), textOf(after)] as const;
  const [row] = yield* run(INSERT, id, action, ...who, target, address, requestId, ...states);
  const at = isoTime(row!.at)!;
  return { id, at, action, actor, target, address, requestId, before, after };
}

function textOf(state: Change['before']): string | null {
  return state === null ? null : JSON.stringify(state);
}
