import { createHmac, randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Clock, Logger, stringifyJson } from 'pet-store-service';
import { In, LessThan, LessThanOrEqual, type Repository } from 'typeorm';
import { Delivery } from './delivery.entity.js';
import { WebhookSettings } from './settings.js';

const HOUR_MS = 3_600_000;
/** How long to wait after each failed attempt; the last one repeats. */
const RETRY_AFTER_SECONDS = [5, 300, 1_800, 7_200, 18_000, 36_000];
/** After the attempt at this age, a delivery is dead. */
const GIVE_UP_AFTER_MS = 24 * HOUR_MS;
const KEEP_MS = 30 * 24 * HOUR_MS;
const TIMEOUT_MS = 10_000;
/** How long a node has a delivery to itself. If the node ends, another one takes over. */
const LEASE_MS = 60_000;
const BATCH = 50;

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * Delivers each event at least once to each endpoint, in no particular order. Each endpoint has
 * passes of its own, so that one that hangs delays no other.
 */
@Injectable()
export class Deliveries implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly stopping = new AbortController();
  private timer?: NodeJS.Timeout;
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    @InjectRepository(Delivery) private readonly table: Repository<Delivery>,
    private readonly settings: WebhookSettings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { webhooksUrls, webhooksOperatorUrls = webhooksUrls } = this.settings;
    const endpoints = new Set([...webhooksUrls, ...webhooksOperatorUrls]);
    this.timer = setInterval(() => endpoints.forEach((each) => this.run(each)), 1_000);
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await Promise.all(this.running.values());
  }

  add(type: string, data: object, at: Date): Promise<void> {
    return this.insert(this.settings.webhooksUrls, type, data, at);
  }

  addForOperator(type: string, data: object): Promise<void> {
    const { webhooksUrls, webhooksOperatorUrls = webhooksUrls } = this.settings;
    return this.insert(webhooksOperatorUrls, type, data, new Date(this.clock.now()));
  }

  private async insert(endpoints: string[], type: string, data: object, at: Date): Promise<void> {
    const createdAt = at.toISOString();
    const event = {
      messageId: `msg_${randomUUID()}`,
      payload: stringifyJson({ type, timestamp: createdAt, data }),
      status: 'pending' as const,
      attempts: 0,
      createdAt,
      nextAt: createdAt,
    };
    await this.table.insert(endpoints.map((endpoint) => ({ ...event, endpoint })));
    endpoints.forEach((each) => this.run(each));
  }

  private run(endpoint: string): void {
    if (this.running.has(endpoint)) return;
    const pass = this.deliverDue(endpoint)
      .catch((err: unknown) => this.logger.error({ err }, 'Webhooks could not be delivered'))
      .finally(() => this.running.delete(endpoint));
    this.running.set(endpoint, pass);
  }

  private async deliverDue(endpoint: string): Promise<void> {
    const now = this.clock.now();
    // The dead ones, and those of an endpoint that is no longer in the settings.
    const old = { status: In(['pending', 'dead']), nextAt: LessThan(iso(now - KEEP_MS)) };
    await this.table.delete(old);
    const due = await this.table.find({
      where: { endpoint, status: 'pending', nextAt: LessThanOrEqual(iso(now)) },
      order: { nextAt: 'ASC' },
      take: BATCH,
    });
    await Promise.all(due.map((delivery) => this.attempt(delivery)));
  }

  private async attempt({ nextAt, ...delivery }: Delivery): Promise<void> {
    const { id, createdAt } = delivery;
    const attempts = delivery.attempts + 1;
    const now = this.clock.now();
    const lease = { attempts, nextAt: iso(now + LEASE_MS) };
    // Only one node changes this row: for the others, no row has this time any more.
    const { affected } = await this.table.update({ id, nextAt }, lease);
    if (affected !== 1) return;
    const lastError = await this.send(delivery);
    const endsAt = Date.parse(createdAt) + GIVE_UP_AFTER_MS;
    const waitSeconds = RETRY_AFTER_SECONDS[attempts - 1] ?? RETRY_AFTER_SECONDS.at(-1)!;
    const next = iso(Math.min(now + waitSeconds * 1_000, endsAt));
    const status = now < endsAt ? 'pending' : 'dead';
    if (lastError === undefined) await this.table.delete({ id });
    else await this.table.update({ id }, { status, lastError, nextAt: next });
  }

  /** @returns why it failed; undefined after a 2xx response */
  private async send(delivery: Omit<Delivery, 'nextAt'>): Promise<string | undefined> {
    const { endpoint, messageId, payload } = delivery;
    const timestamp = String(Math.floor(this.clock.now() / 1_000));
    const headers = {
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': timestamp,
      'webhook-signature': this.sign(`${messageId}.${timestamp}.${payload}`),
    };
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const request = { method: 'POST', headers, body: payload, signal } as const;
      const response = await fetch(endpoint, { ...request, redirect: 'manual' });
      await response.body?.cancel();
      return response.ok ? undefined : `HTTP ${response.status}`;
    } catch (error) {
      return String((error as Error).cause ?? error).slice(0, 255);
    }
  }

  private sign(text: string): string {
    const secret = Buffer.from(this.settings.webhooksSecret.replace('whsec_', ''), 'base64');
    return `v1,${createHmac('sha256', secret).update(text).digest('base64')}`;
  }
}
