import { Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { BackgroundWriter, type Flush } from '../database/background-writer.js';
import { forEachBatch } from '../database/in-batches.js';
import { isOutage } from '../database/outage.js';
import { mintId } from '../keys/api-key-format.js';
import { Clock } from '../time/clock.js';
import { DAY_MS, HOUR_MS } from '../time/windows.js';
import { LATEST_REFUSALS } from './usage-report.js';
import { append, type Refusal, type UsageHour } from './usage.entities.js';
import { UsageRepository } from './usage.repository.js';

const FLUSH_INTERVAL_MS = 10_000;
/**
 * Clients per outcome and hour that wait while the database is down. Further clients are not
 * counted.
 */
const MAX_PENDING = 100_000;
/** Clients whose latest refusals are kept in memory. */
const MAX_REFUSED_CLIENTS = 10_000;
/** The longest history. */
const KEPT_DAYS = 7;
/** The length of the column. */
const MAX_CODE_LENGTH = 64;

interface Outcome extends Pick<UsageHour, 'hour' | 'status' | 'code'> {
  /** Number of requests by client. */
  clients: Map<string, number>;
}

/**
 * Counts the outcomes of requests by client and hour, and remembers the latest refusals of each
 * client. They are statistics: every 10 s the counts are added to those in the database, and a
 * crash loses the last seconds.
 */
@Injectable()
export class UsageRecorder implements OnModuleInit {
  readonly flush: Flush;
  private readonly writer = mintId('use');
  private pending = new Map<string, Outcome>();
  private readonly refusals = new LRUCache<string, Refusal[]>({
    maxSize: MAX_REFUSED_CLIENTS,
    sizeCalculation: () => 1,
  });
  private refusedClients = new Set<string>();
  private cleanedDay = 0;

  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly repository: UsageRepository,
    private readonly clock: Clock,
    writer: BackgroundWriter,
  ) {
    this.flush = writer.add({
      task: 'save usage statistics',
      intervalMs: FLUSH_INTERVAL_MS,
      write: async (stop) => {
        await this.flushCounts();
        await this.flushRefusals();
        await this.deleteOld(stop);
      },
    });
  }

  onModuleInit(): void {
    const server = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('onResponse', (request, reply, done) => {
      this.record(request, reply.statusCode);
      done();
    });
  }

  record(request: FastifyRequest, status: number): void {
    const { caller = request.formerCaller, refusal, operation = 'unknown', fullWindow } = request;
    if (caller === undefined) return;
    const nowMs = this.clock.now();
    const clientId = caller.quota.subject;
    const code = refusal?.code.slice(0, MAX_CODE_LENGTH) ?? '';
    this.add({ hour: Math.floor(nowMs / HOUR_MS), clientId, status, code, used: 1 });
    if (refusal === undefined) return;
    const times = { at: nowMs, firstAt: nowMs, count: 1 };
    const { address } = refusal;
    const latest = { ...times, code, operation, address, window: fullWindow ?? null };
    const refusals = append(this.refusals.get(clientId) ?? [], latest);
    this.refusals.set(clientId, refusals.slice(-LATEST_REFUSALS));
    this.refusedClients.add(clientId);
  }

  private add({ hour, clientId, status, code, used }: UsageHour): void {
    const name = `${hour} ${status} ${code}`;
    let outcome = this.pending.get(name);
    if (outcome === undefined) {
      outcome = { hour, status, code, clients: new Map() };
      this.pending.set(name, outcome);
    }
    const known = outcome.clients.get(clientId);
    if (known !== undefined || outcome.clients.size < MAX_PENDING)
      outcome.clients.set(clientId, (known ?? 0) + used);
  }

  private async flushCounts(): Promise<void> {
    const outcomes = [...this.pending.values()];
    this.pending = new Map();
    try {
      for (const { clients, ...outcome } of outcomes) {
        await forEachBatch([...clients], async (batch) => {
          await this.repository.addCounts(outcome, batch);
          for (const [clientId] of batch) clients.delete(clientId);
        });
      }
    } catch (error) {
      if (isOutage(error)) for (const unsaved of outcomes) this.putBack(unsaved);
      throw error;
    }
  }

  private putBack({ clients, ...outcome }: Outcome): void {
    for (const [clientId, used] of clients) this.add({ ...outcome, clientId, used });
  }

  private async flushRefusals(): Promise<void> {
    const clients = [...this.refusedClients];
    this.refusedClients = new Set();
    const rows = clients.flatMap((clientId) => {
      const refusals = this.refusals.peek(clientId) ?? [];
      const latest = refusals.at(-1);
      return latest ? [{ clientId, writer: this.writer, refusals, at: latest.at }] : [];
    });
    await forEachBatch(rows, (batch) => this.repository.saveRefusals(batch));
  }

  private async deleteOld(stop: AbortSignal): Promise<void> {
    const nowMs = this.clock.now();
    const today = Math.floor(nowMs / DAY_MS);
    if (today === this.cleanedDay || stop.aborted) return;
    await this.repository.deleteBefore(nowMs - KEPT_DAYS * DAY_MS, stop);
    this.cleanedDay = today;
  }
}
