import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { BackgroundTasks, type Flush } from '../database/background-tasks.js';
import { forEachBatch } from '../database/in-batches.js';
import { isOutage, isReadTimeout } from '../database/database-error.js';
import { Transport } from '../http/transport.js';
import { Clock } from '../time/clock.js';
import { dayOf, HOUR_MS, MINUTE_MS } from '../time/windows.js';
import { KEPT_MS, type RejectedGroup, type UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

const FLUSH_INTERVAL_MS = 10_000;
/** Counts that wait while the database is down. More are dropped. */
const MAX_PENDING = 100_000;
/** Clients whose rejected requests wait. */
const MAX_CLIENTS = 10_000;
/** Groups that wait per client, the latest: a client can invent addresses. */
const MAX_GROUPS = 20;
/** The length of the column. */
const MAX_CODE_LENGTH = 64;

/**
 * Counts the outcomes of the requests of each client by hour, and its rejected requests by group.
 * They are statistics: every 10 s the counts are added to the stored ones, and a crash loses the
 * last seconds.
 */
@Injectable()
export class UsageRecorder {
  readonly flush: Flush;
  private hours = new Map<string, UsageHour>();
  /** By client. */
  private readonly rejected = new LRUCache<string, LRUCache<string, RejectedGroup>>({
    max: MAX_CLIENTS,
  });

  constructor(
    repository: UsageRepository,
    private readonly clock: Clock,
    background: BackgroundTasks,
    transport: Transport,
  ) {
    this.flush = background.add({
      task: 'save usage statistics',
      intervalMs: FLUSH_INTERVAL_MS,
      run: async () => {
        const hours = [...this.hours.values()];
        this.hours.clear();
        await save(hours, (batch) => repository.addHours(batch), this.addHour);
        const groups = [...this.rejected.values()].flatMap((each) => [...each.values()]);
        this.rejected.clear();
        await save(groups, (batch) => repository.addRejected(batch), this.addRejected);
        await forEachBatch(groups, (batch) => repository.trimRejected(batch));
      },
    });
    background.add({
      task: 'delete old usage statistics',
      intervalMs: MINUTE_MS,
      run: (stop) => repository.deleteBefore(clock.now() - KEPT_MS, stop),
    });
    // Also if the client leaves before the end of its response.
    transport.onArrival((request, reply) => {
      reply.raw.once('close', () => this.record(request, reply.statusCode));
    });
  }

  record(request: FastifyRequest, status: number): void {
    const { caller = request.formerCaller, rejection, operation = 'unknown' } = request;
    if (caller === undefined) return;
    const nowMs = this.clock.now();
    const clientId = caller.quota.key;
    const code = rejection?.code.slice(0, MAX_CODE_LENGTH) ?? '';
    const hour = Math.floor(nowMs / HOUR_MS);
    this.addHour({ hour, clientId, plan: caller.plan, operation, status, code, used: 1 });
    if (rejection === undefined) return;
    this.addRejected({
      day: dayOf(nowMs),
      clientId,
      code,
      operation,
      address: rejection.address,
      window: request.fullWindow ?? '',
      keyId: caller.keyId,
      count: 1,
      firstAt: nowMs,
      at: nowMs,
    });
  }

  private readonly addHour = (count: UsageHour): void => {
    const { hour, clientId, plan, operation, status, code, used } = count;
    const name = `${hour} ${status} ${code} ${plan} ${operation} ${clientId}`;
    const known = this.hours.get(name);
    if (known !== undefined) known.used += used;
    else if (this.hours.size < MAX_PENDING) this.hours.set(name, count);
  };

  private readonly addRejected = (group: RejectedGroup): void => {
    const { day, clientId, code, operation, address, window } = group;
    const groups = this.rejected.get(clientId) ?? new LRUCache({ max: MAX_GROUPS });
    this.rejected.set(clientId, groups);
    const name = [day, code, operation, address, window].join(' ');
    const known = groups.get(name);
    groups.set(name, known === undefined ? group : merge(known, group));
  };
}

function merge(one: RejectedGroup, other: RejectedGroup): RejectedGroup {
  const latest = one.at > other.at ? one : other;
  const firstAt = Math.min(one.firstAt, other.firstAt);
  return { ...latest, count: one.count + other.count, firstAt };
}

/**
 * Writes rows in batches. If an outage interrupts it, the remaining rows are added again, but not
 * a batch that may be written later: usage is billed, so no request may count twice.
 */
async function save<Row>(
  rows: readonly Row[],
  write: (batch: Row[]) => Promise<void>,
  addAgain: (row: Row) => void,
): Promise<void> {
  let handled = 0;
  try {
    await forEachBatch(rows, async (batch) => {
      await write(batch).catch((error: unknown) => {
        if (isReadTimeout(error)) handled += batch.length;
        throw error;
      });
      handled += batch.length;
    });
  } catch (error) {
    if (isOutage(error)) rows.slice(handled).forEach(addAgain);
    throw error;
  }
}
