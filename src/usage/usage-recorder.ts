import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { BackgroundWriter, type Flush } from '../database/background-writer.js';
import { forEachBatch } from '../database/in-batches.js';
import { isOutage } from '../database/outage.js';
import { Transport } from '../http/transport.js';
import { mintId } from '../keys/api-key-format.js';
import { Clock } from '../time/clock.js';
import { HOUR_MS, MINUTE_MS } from '../time/windows.js';
import { append, KEPT_MS, type UsageHour, type UsageRefusals } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

const FLUSH_INTERVAL_MS = 10_000;
/** Counts that wait while the database is down. Further ones are dropped. */
const MAX_PENDING = 100_000;
/** Clients whose latest refusals are kept in memory. */
const MAX_REFUSED_CLIENTS = 10_000;
/** Twice what is reported, because a group has the requests of one key. */
const MAX_REFUSALS = 20;
/** The length of the column. */
const MAX_CODE_LENGTH = 64;

/**
 * Counts the outcomes of requests by client and hour, and remembers the latest refusals of each
 * client. They are statistics: every 10 s the counts are added to those in the database, and a
 * crash loses the last seconds.
 */
@Injectable()
export class UsageRecorder {
  readonly flush: Flush;
  private readonly writer = mintId('use');
  private pending = new Map<string, UsageHour>();
  /** The latest refusals of each client. */
  private readonly refusals = new LRUCache<string, UsageRefusals>({ max: MAX_REFUSED_CLIENTS });
  private readonly pendingRefusals = new Map<string, UsageRefusals>();

  constructor(
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
    writer: BackgroundWriter,
    { server }: Transport,
  ) {
    this.flush = writer.add({
      task: 'save usage statistics',
      intervalMs: FLUSH_INTERVAL_MS,
      write: async () => {
        await this.flushCounts();
        await this.flushRefusals();
      },
    });
    writer.add({
      task: 'delete old usage statistics',
      intervalMs: MINUTE_MS,
      write: (stop) => repository.deleteBefore(clock.now() - KEPT_MS, stop),
    });
    server.addHook('onResponse', (request, reply, done) => {
      this.record(request, reply.statusCode);
      done();
    });
  }

  record(request: FastifyRequest, status: number): void {
    const { caller = request.formerCaller, refusal, operation = 'unknown', fullWindow } = request;
    if (caller === undefined) return;
    const nowMs = this.clock.now();
    const clientId = caller.quota.key;
    const code = refusal?.code.slice(0, MAX_CODE_LENGTH) ?? '';
    this.add({ hour: Math.floor(nowMs / HOUR_MS), clientId, status, code, used: 1 });
    if (refusal === undefined) return;
    const latest = {
      at: nowMs,
      firstAt: nowMs,
      count: 1,
      code,
      operation,
      address: refusal.address,
      keyId: caller.keyId,
      window: fullWindow ?? null,
    };
    const known = this.refusals.get(clientId)?.refusals ?? [];
    const refusals = append(known, latest).slice(-MAX_REFUSALS);
    const row = { clientId, writer: this.writer, refusals, at: nowMs };
    this.refusals.set(clientId, row);
    this.pendingRefusals.set(clientId, row);
  }

  private add(count: UsageHour): void {
    const { hour, clientId, status, code, used } = count;
    const name = `${hour} ${status} ${code} ${clientId}`;
    const known = this.pending.get(name);
    if (known !== undefined) known.used += used;
    else if (this.pending.size < MAX_PENDING) this.pending.set(name, count);
  }

  private async flushCounts(): Promise<void> {
    const unsaved = new Set(this.pending.values());
    this.pending = new Map();
    try {
      await forEachBatch([...unsaved], async (batch) => {
        await this.repository.addCounts(batch);
        for (const count of batch) unsaved.delete(count);
      });
    } catch (error) {
      if (isOutage(error)) for (const count of unsaved) this.add(count);
      throw error;
    }
  }

  private async flushRefusals(): Promise<void> {
    await forEachBatch([...this.pendingRefusals.values()], async (rows) => {
      await this.repository.saveRefusals(rows);
      for (const row of rows) {
        const isLatest = this.pendingRefusals.get(row.clientId) === row;
        if (isLatest) this.pendingRefusals.delete(row.clientId);
      }
    });
  }
}
