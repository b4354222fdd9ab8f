import type { Config } from '../../src/core/config/config.js';
import type { Statement } from '../../src/core/database/database.js';
import { type Ban, mergeBans } from '../../src/core/rate-limits/bans/bans.js';
import { MemoryStore } from '../../src/core/rate-limits/stores/memory.store.js';
import { Clock } from '../../src/core/time/clock.js';

export const CONFIG = { banAfterRejections: 25, banSeconds: 4 } as Config;
export const LIMITS = { minute: 12, day: 20 };
const QUOTA = { plan: 'enterprise', perMinute: LIMITS.minute, perDay: LIMITS.day };
const TERMS = { ...QUOTA, scopes: 'pets:read', expiresAt: null, isUnused: false, allowedFrom: '' };

/**
 * Redis with the script that counts. Its counters are a `MemoryStore`: one suite holds both stores
 * to the same law (`test/support/rate-limit-store.suite.ts`).
 */
export class SimulatedRedis {
  /** Until when it executes nothing. */
  pausedUntilMs = 0;
  /** Grows with each loss of the counts. */
  private epoch = 0;
  private store = new MemoryStore(new Clock(), CONFIG);

  flush(): void {
    this.store = new MemoryStore(new Clock(), CONFIG);
    this.epoch++;
  }

  take(name: string, args: number[]) {
    const key = /\{(.*)\}/.exec(name)![1]!;
    const [at = 0, until = 0, bans = 0, perMinute = 0, perDay = 0] = args;
    if (Date.now() > args.at(-1)!) return { reply: [-1, Date.now()], epoch: this.epoch };
    if (at > 0) this.store.restoreBan(key, { at, until, bans });
    const decision = this.store.take(key, { perMinute, perDay });
    const { admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs, newBan } = decision;
    const result = newBan === undefined ? Number(admitted) : 2;
    const counters = [nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs];
    return { reply: [result, ...counters, newBan?.at, newBan?.bans], epoch: this.epoch };
  }
}

/** The tables of keys and bans. Rows are replaced, not changed: a reply may be on its way. */
export class SimulatedDatabase {
  readonly pausedUntilMs = 0;
  private readonly keys = new Map<string, { endedAt: number | null; changedAt: number }>();
  private readonly bans = new Map<string, Ban & { key: string; changedAt: number }>();

  /** @param endedAt when it was revoked */
  saveKey(name: string, changedAt: number, endedAt: number | null): void {
    const names = { id: name, clientId: name, digest: name };
    this.keys.set(name, { ...names, ...TERMS, endedAt, changedAt });
  }

  saveBan(key: string, ban: Ban): void {
    const merged = mergeBans(this.bans.get(key), ban);
    this.bans.set(key, { ...merged, key, changedAt: Date.now() });
  }

  /** @param parameter the digest of a key, or the time of a change */
  run({ name }: Statement, parameter: unknown): object[] {
    const isChanged = (row: { changedAt: number }) => row.changedAt >= (parameter as number);
    if (name === 'poller.now') return [{ nowMs: Date.now() }];
    if (name === 'keys.find-by-digest') return [this.keys.get(parameter as string)!];
    if (name === 'keys.changed') return [...this.keys.values()].filter(isChanged);
    if (name === 'bans.changed-since') return [...this.bans.values()].filter(isChanged);
    throw new Error(`the simulated database does not know the statement ${name}`);
  }
}
