import type { Config } from '../../src/config/config.js';
import type { Statement } from '../../src/database/database.js';
import { type Ban, mergeBans } from '../../src/rate-limits/bans/bans.js';
import { Limits } from '../../src/rate-limits/limits.js';
import type { Decision } from '../../src/rate-limits/stores/rate-limit-store.js';
import { MemoryStore } from '../../src/rate-limits/stores/memory.store.js';
import type { SimulatedClock } from './scheduler.js';

type Arguments = readonly number[];

/**
 * Redis with the scripts of the service. Its counters are a `MemoryStore`: one suite holds both
 * stores to the same law (`test/support/rate-limit-store.suite.ts`).
 */
export class SimulatedRedis {
  /** Grows with each loss of the counts. */
  epoch = 0;
  private store: MemoryStore;

  constructor(
    readonly clock: SimulatedClock,
    private readonly config: Config,
  ) {
    this.store = new MemoryStore(clock, config);
  }

  flush(): void {
    this.store = new MemoryStore(this.clock, this.config);
    this.epoch++;
  }

  run(script: string, key: string, args: Arguments): unknown {
    const subject = /\{(.*)\}/.exec(key)![1]!;
    if (script === 'petstoreProbe') return 'OK';
    const [at = 0, until = 0, bans = 0, perMinute = 0, perDay = 0] = args;
    if (at > 0) this.store.restoreBan(subject, { at, until, bans });
    if (script === 'petstorePeek') return toReply(this.store.peek(subject));
    return toReply(this.store.take(subject, new Limits(perMinute, perDay)));
  }
}

function toReply(decision: Decision): unknown[] {
  const { admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs, newBan } = decision;
  const result = newBan === undefined ? Number(admitted) : 2;
  const ban = newBan === undefined ? [0, 0] : [newBan.at, newBan.bans];
  return [result, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs, ...ban, 0];
}

export interface KeyRow {
  id: string;
  clientId: string;
  digest: string;
  plan: string;
  scopes: string;
  perMinute: number;
  perDay: number;
  expiresAt: null;
  /** When it was revoked. */
  endedAt: number | null;
  isUnused: boolean;
  changedAt: number;
}

/** The tables of keys and bans. */
export class SimulatedDatabase {
  readonly keys = new Map<string, KeyRow>();
  private readonly bans = new Map<string, Ban & { subject: string; changedAt: number }>();

  constructor(readonly clock: SimulatedClock) {}

  ban(subject: string, ban: Ban): void {
    const merged = mergeBans(this.bans.get(subject), ban);
    this.bans.set(subject, { ...merged, subject, changedAt: this.clock.now() });
  }

  run({ name }: Statement, parameter: unknown): unknown[] {
    const keys = [...this.keys.values()];
    if (name === 'poller.now') return [{ nowMs: this.clock.now() }];
    if (name === 'keys.find-by-digest') return copies(keys, (row) => row.digest === parameter);
    const since = parameter as number;
    if (name === 'keys.changed') return copies(keys, (row) => row.changedAt >= since);
    if (name === 'bans.changed-since') {
      return copies([...this.bans.values()], (row) => row.changedAt >= since);
    }
    throw new Error(`the simulated database does not know the statement ${name}`);
  }
}

function copies<Row extends object>(rows: Row[], isWanted: (row: Row) => boolean): Row[] {
  return rows.filter(isWanted).map((row) => Object.assign({}, row));
}
