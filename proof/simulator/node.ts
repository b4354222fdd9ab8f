import type { Redis } from 'ioredis';
import { BackgroundTasks } from '../../src/core/database/background-tasks.js';
import { ChangePoller } from '../../src/core/database/change-poller.js';
import type { Database } from '../../src/core/database/database.js';
import { isOutage } from '../../src/core/database/database-error.js';
import type { ApiReply, ApiRequest } from '../../src/core/http/request.js';
import { KeyCache } from '../../src/core/keys/key-cache.js';
import { BanRepository } from '../../src/core/rate-limits/bans/ban.repository.js';
import { CounterPersistence } from '../../src/core/rate-limits/counter-persistence.js';
import { Plans } from '../../src/core/rate-limits/plan.js';
import { RateLimiter } from '../../src/core/rate-limits/rate-limiter.js';
import { FallbackStore } from '../../src/core/rate-limits/stores/fallback.store.js';
import { MemoryStore } from '../../src/core/rate-limits/stores/memory.store.js';
import type { Decision } from '../../src/core/rate-limits/stores/rate-limit-store.js';
import { RedisStore } from '../../src/core/rate-limits/stores/redis.store.js';
import { RedisClient } from '../../src/core/redis/redis.client.js';
import { Metrics } from '../../src/core/telemetry/metrics.js';
import { Clock } from '../../src/core/time/clock.js';
import { withTimeout } from '../../src/core/time/timeout.js';
import type { Link } from './network.js';
import { CONFIG, type SimulatedDatabase, type SimulatedRedis } from './servers.js';

const COMMAND_TIMEOUT_MS = 500;
const POLL_TIMEOUT_MS = 1_000;
const SENDER = { ip: '192.0.2.1' } as ApiRequest;
const noop = (): void => undefined;
/** In place of the log, saved counters, last uses and background writes. */
const NONE = {
  error: noop,
  warn: noop,
  info: noop,
  since: () => [],
  record: noop,
  add: noop,
} as never;

/** What became of one request. */
export interface Outcome {
  node: SimulatedNode;
  key: string;
  /** The end of the ban that the node knew when the request arrived, in Unix milliseconds. */
  bannedUntilMs: number;
  status: 200 | 401 | 429 | 503;
  retryAfterSeconds?: number;
  decision?: Decision;
  /** The epoch of Redis whose counter decided; undefined if the node's own counter did. */
  epoch?: number;
}

/** The clock of one machine, which can be set. */
class MachineClock extends Clock {
  offsetMs = 0;

  override now(): number {
    return super.now() + this.offsetMs;
  }
}

/** One node: the classes of the service, with simulated connections. */
export class SimulatedNode {
  readonly clock = new MachineClock();
  /** Does what Nest does at the start of the service. */
  readonly start: () => Promise<void>;
  private readonly cache: KeyCache;
  private readonly limiter: RateLimiter;
  private readonly bannedUntilMs = new Map<string, number>();
  /** The request whose command is sent next. */
  private admitting: Partial<Outcome> = {};

  constructor(
    readonly name: string,
    readonly toRedis: Link<SimulatedRedis>,
    readonly toDatabase: Link<SimulatedDatabase>,
  ) {
    const { clock } = this;
    const database = this.statements();
    const [metrics, plans] = [new Metrics(), new Plans()];
    const memory = new MemoryStore(clock, CONFIG);
    const client = new RedisClient(this.scripts(), 'redis:', COMMAND_TIMEOUT_MS, undefined);
    const store = new FallbackStore(new RedisStore(client, CONFIG), memory, NONE);
    const background = new BackgroundTasks(NONE, NONE);
    const poller = new ChangePoller(database, clock, background);
    const bans = new BanRepository(database);
    const persistence = new CounterPersistence(memory, store, NONE, bans, poller, clock, NONE);
    this.cache = new KeyCache(database, poller, clock, NONE, plans, metrics);
    this.limiter = new RateLimiter(store, metrics, plans);
    this.limiter.onDecision((decision, { quota: { key } }, request) => {
      Object.assign(request, { decision });
      const { newBan } = decision;
      if (newBan === undefined) return;
      this.bannedUntilMs.set(key, newBan.until);
      void toDatabase.call((server) => server.saveBan(key, newBan)).catch(noop);
    });
    this.start = async () => {
      await persistence.onModuleInit();
      background.onApplicationBootstrap();
      await poller.onApplicationBootstrap();
      await store.onApplicationBootstrap();
    };
  }

  async request(key: string): Promise<Outcome> {
    const bannedUntilMs = this.bannedUntilMs.get(key) ?? 0;
    const outcome: Outcome = { node: this, key, bannedUntilMs, status: 401 };
    try {
      const caller = this.cache.getCached(key, SENDER) ?? (await this.cache.load(key, SENDER));
      if (caller === undefined) return outcome;
      const reply = {
        header: noop,
        request: Object.assign(outcome, { caller }),
      } as unknown as ApiReply;
      this.admitting = outcome;
      await this.limiter.admit(caller.quota, reply);
      outcome.status = 200;
    } catch (error) {
      const { headers } = error as { headers?: Record<string, string> };
      if (headers === undefined && !isOutage(error)) throw error;
      outcome.status = headers === undefined ? 503 : 429;
      outcome.retryAfterSeconds = Number(headers?.['Retry-After']);
    }
    return outcome;
  }

  /** What the client of Redis uses of ioredis. */
  private scripts(): Redis {
    const petstoreProbe = () => this.toRedis.call(() => 'OK');
    const petstoreTake = async (key: string, ...args: number[]) => {
      const { admitting } = this;
      const { reply, epoch } = await this.toRedis.call((server) => server.take(key, args));
      admitting.epoch = epoch;
      return reply;
    };
    return { on: noop, defineCommand: noop, petstoreProbe, petstoreTake } as unknown as Redis;
  }

  private statements(): Database {
    type Query = Parameters<SimulatedDatabase['run']>;
    const query = (...args: Query) => this.toDatabase.call((server) => server.run(...args));
    const poll = (...args: Query) => withTimeout(POLL_TIMEOUT_MS, query(...args));
    return { query, poll } as unknown as Database;
  }
}
