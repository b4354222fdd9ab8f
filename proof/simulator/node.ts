import type { Redis } from 'ioredis';
import type { DataSource } from 'typeorm';
import type { Config } from '../../src/config/config.js';
import { BackgroundWriter } from '../../src/database/background-writer.js';
import { ChangePoller } from '../../src/database/change-poller.js';
import type { Database, Parameter, Statement } from '../../src/database/database.js';
import type { ApiReply, ApiRequest } from '../../src/http/request-context.js';
import { KeyCache } from '../../src/keys/key-cache.js';
import { LastUses } from '../../src/keys/last-uses.js';
import { BanRepository } from '../../src/rate-limits/bans/ban.repository.js';
import { CounterPersistence } from '../../src/rate-limits/counter-persistence.js';
import type { CounterRepository } from '../../src/rate-limits/counter.repository.js';
import { Plans } from '../../src/rate-limits/plan.js';
import { RateLimiter } from '../../src/rate-limits/rate-limiter.js';
import { FallbackStore } from '../../src/rate-limits/stores/fallback.store.js';
import { MemoryStore } from '../../src/rate-limits/stores/memory.store.js';
import type { Decision } from '../../src/rate-limits/stores/rate-limit-store.js';
import { RedisStore } from '../../src/rate-limits/stores/redis.store.js';
import { RedisClient } from '../../src/redis/redis.client.js';
import type { Logger } from '../../src/telemetry/logger.js';
import { Metrics } from '../../src/telemetry/metrics.js';
import { withTimeout } from '../../src/time/timeout.js';
import type { Link } from './network.js';
import type { SimulatedClock } from './scheduler.js';
import type { SimulatedDatabase, SimulatedRedis } from './servers.js';

const COMMAND_TIMEOUT_MS = 500;
const OBSERVE_TIMEOUT_MS = 1_000;
const SENDER = { ip: '192.0.2.1' } as ApiRequest;
const nothing = (): void => undefined;

/** Who decided about a request, and what its counter said. */
export interface Decided {
  /** The epoch of Redis whose counter decided; undefined if the node's own counter did. */
  epoch?: number;
  decision?: Decision;
}

/** What became of one request. */
export interface Outcome extends Decided {
  status: 200 | 401 | 429 | 503;
  retryAfterSeconds?: number;
}

/** One node: the classes of the service, with simulated connections. */
export class SimulatedNode {
  readonly store: FallbackStore;
  private readonly poller: ChangePoller;
  private readonly cache: KeyCache;
  private readonly limiter: RateLimiter;
  private readonly persistence: CounterPersistence;
  /** The request that is being admitted, until its command is sent. */
  private admitting: Decided = {};

  constructor(
    readonly name: string,
    readonly clock: SimulatedClock,
    readonly toRedis: Link,
    readonly toDatabase: Link,
    private readonly redis: SimulatedRedis,
    private readonly database: SimulatedDatabase,
    config: Config,
  ) {
    const [metrics, plans] = [new Metrics(), new Plans()];
    const logger = { error: nothing, info: nothing } as unknown as Logger;
    const memory = new MemoryStore(clock, config);
    const client = new RedisClient(
      this.connection(),
      'redis://simulated',
      COMMAND_TIMEOUT_MS,
      undefined,
    );
    this.store = new FallbackStore(new RedisStore(client, config), memory, logger);
    this.limiter = new RateLimiter(this.store, metrics, plans);
    const statements = this.statements();
    this.poller = new ChangePoller(statements, clock, logger);
    const writer = new BackgroundWriter(logger);
    const noTables = undefined as unknown as DataSource;
    this.cache = new KeyCache(
      statements,
      this.poller,
      clock,
      new LastUses(noTables, statements, writer),
      plans,
      metrics,
    );
    const counters = { since: () => Promise.resolve([]) } as unknown as CounterRepository;
    const bans = new BanRepository(statements);
    this.persistence = new CounterPersistence(
      ...([memory, this.store, counters, bans, this.poller, clock, writer] as const),
    );
    this.limiter.onDecision((decision, { subject }, request) => {
      (request as Decided).decision = decision;
      const { newBan } = decision;
      if (newBan === undefined) return;
      void this.toDatabase.call(() => this.database.ban(subject, newBan)).catch(nothing);
    });
  }

  async start(): Promise<void> {
    await this.persistence.onModuleInit();
    await this.poller.onApplicationBootstrap();
    await this.store.onApplicationBootstrap();
  }

  async request(digest: string): Promise<Outcome> {
    const decided: Decided = {};
    try {
      const caller =
        this.cache.getCached(digest, SENDER) ?? (await this.cache.load(digest, SENDER));
      if (caller === undefined) return { status: 401 };
      const reply = { header: nothing, request: decided } as unknown as ApiReply;
      this.admitting = decided;
      await this.limiter.admit(caller.quota, reply);
      return Object.assign(decided, { status: 200 as const });
    } catch (error) {
      const { headers } = error as { headers?: Record<string, string> };
      const retryAfterSeconds = Number(headers?.['Retry-After']);
      if (Number.isNaN(retryAfterSeconds)) return { status: 503 };
      return Object.assign(decided, { status: 429 as const, retryAfterSeconds });
    }
  }

  /** What the client of Redis uses of ioredis. */
  private connection(): Redis {
    const commands: Record<string, unknown> = { on: nothing, disconnect: nothing };
    commands['defineCommand'] = (name: string) => {
      commands[name] = (key: string, ...args: number[]) => {
        const { admitting } = this;
        const execute = () => [this.redis.run(name, key, args), this.redis.epoch] as const;
        const received = ([, epoch]: readonly [unknown, number]): void => {
          if (name === 'petstoreTake') admitting.epoch = epoch;
        };
        return this.toRedis.call(execute, received).then(([reply]) => reply);
      };
    };
    return commands as unknown as Redis;
  }

  private statements(): Database {
    const query = (statement: Statement, ...[parameter]: Parameter[]) =>
      this.toDatabase.call(() => this.database.run(statement, parameter));
    const observe = (statement: Statement, ...parameters: Parameter[]) =>
      withTimeout(OBSERVE_TIMEOUT_MS, query(statement, ...parameters));
    return { query, observe } as unknown as Database;
  }
}
