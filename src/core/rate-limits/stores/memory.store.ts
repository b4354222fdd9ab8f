import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Config } from '../../config/config.js';
import { Clock } from '../../time/clock.js';
import { dayOf, minuteOf } from '../../time/windows.js';
import { type Ban, mergeBans, nextBan } from '../bans/bans.js';
import type { Limits } from '../limits.js';
import type { RateLimitCounter } from '../rate-limit-counter.entity.js';
import { isAddress, isClient } from '../rate-limit-key.js';
import { type Decision, RateLimitStore, type WindowCount } from './rate-limit-store.js';

interface Counter extends RateLimitCounter {
  /** Rejected requests in `minute`. */
  rejections: number;
  ban: Ban | undefined;
}

const WINDOWS = [
  ['minute', 'minuteUsed'],
  ['day', 'dayUsed'],
] as const;

const MAX_ADDRESSES = 100_000;

/**
 * This process's counters. They are exact because nothing is awaited between the check and the
 * count.
 *
 * Memory is bounded: one counter per client, and per client and operation with `@Throttle()`; and
 * the 100,000 most recently seen addresses. A counter never moves to an earlier window, so a clock
 * that is set back refills nothing.
 */
@Injectable()
export class MemoryStore extends RateLimitStore {
  readonly mode = 'local';
  private readonly clients = new Map<string, Counter>();
  /** `max` would allocate all slots up front. */
  private readonly addresses = new LRUCache<string, Counter>({
    maxSize: MAX_ADDRESSES,
    sizeCalculation: () => 1,
    dispose: (counter) => this.changed.delete(counter),
  });
  private readonly changed = new Set<Counter>();
  private readonly windows = new Map<string, { used: number; endMs: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly config: Config,
  ) {
    super();
  }

  take(key: string, limits: Limits): Decision {
    const nowMs = this.clock.now();
    const counter = this.counterOf(key, nowMs);
    const { ban } = counter;
    if (ban !== undefined && ban.until > nowMs) return decide(counter, nowMs, false);

    if (counter.minuteUsed < limits.perMinute && counter.dayUsed < limits.perDay) {
      counter.minuteUsed++;
      counter.dayUsed++;
      this.changed.add(counter);
      return decide(counter, nowMs, true);
    }
    const newBan = isClient(key) ? this.reject(counter, nowMs) : undefined;
    return { ...decide(counter, nowMs, false), newBan };
  }

  peek(key: string): Decision {
    const nowMs = this.clock.now();
    const counter = advance(this.find(key) ?? newCounter(key, nowMs), nowMs);
    return decide(counter, nowMs, (counter.ban?.until ?? 0) <= nowMs);
  }

  count(key: string, windowMs: number): WindowCount {
    const nowMs = this.clock.now();
    let window = this.windows.get(key);
    if (window === undefined || window.endMs <= nowMs) {
      window = { used: 0, endMs: (Math.floor(nowMs / windowMs) + 1) * windowMs };
      this.windows.set(key, window);
    }
    return { used: ++window.used, endsInMs: window.endMs - nowMs };
  }

  /** The last ban of a client, whether it has ended or not. */
  banOf(key: string): Ban | undefined {
    return this.clients.get(key)?.ban;
  }

  /** Raises a counter to a count that was made elsewhere, and never lowers it. */
  restore(count: RateLimitCounter): Counter {
    const counter = this.counterOf(count.key, this.clock.now());
    for (const [window, used] of WINDOWS) {
      if (count[window] < counter[window]) continue;
      const isSame = count[window] === counter[window];
      counter[used] = isSame ? Math.max(counter[used], count[used]) : count[used];
      counter[window] = count[window];
    }
    return counter;
  }

  /** Like `restore`, for a count that is not in the database. */
  mirror(count: RateLimitCounter): void {
    this.changed.add(this.restore(count));
  }

  /** Applies a ban, or the end of one, that was recorded elsewhere. */
  restoreBan(key: string, other: Ban): void {
    const counter = this.counterOf(key, this.clock.now());
    const ban = mergeBans(counter.ban, other);
    if (counter.ban?.until !== ban.until) counter.rejections = 0;
    counter.ban = ban;
  }

  /** Returns the counters that changed since the last call. */
  takeChanged(): RateLimitCounter[] {
    const counts = [...this.changed];
    this.changed.clear();
    return counts;
  }

  /** Marks counters as changed again, because they could not be saved. */
  putBack(counts: readonly RateLimitCounter[]): void {
    for (const { key } of counts) {
      const counter = this.find(key);
      if (counter) this.changed.add(counter);
    }
  }

  /** Forgets clients that were last counted before `day`. Their bans lasted a day at most. */
  forgetBefore(day: number): void {
    for (const [key, counter] of this.clients) {
      if (counter.day >= day) continue;
      this.clients.delete(key);
      this.changed.delete(counter);
    }
    for (const [key, { endMs }] of this.windows) {
      if (endMs <= this.clock.now()) this.windows.delete(key);
    }
  }

  /**
   * The minute in which the oldest known address was last counted; undefined while none has been
   * forgotten.
   */
  get oldestAddressMinute(): number | undefined {
    if (this.addresses.size < MAX_ADDRESSES) return undefined;
    const [oldest] = this.addresses.rvalues();
    return oldest?.minute;
  }

  /** Number of counters. */
  get size(): number {
    return this.clients.size + this.addresses.size + this.windows.size;
  }

  private find(key: string): Counter | undefined {
    return isAddress(key) ? this.addresses.peek(key) : this.clients.get(key);
  }

  private counterOf(key: string, nowMs: number): Counter {
    const counters = isAddress(key) ? this.addresses : this.clients;
    const known = counters.get(key);
    if (known) return advance(known, nowMs);
    const counter = newCounter(key, nowMs);
    counters.set(key, counter);
    return counter;
  }

  /** Counts a rejected request. Returns the ban if it exceeds the threshold. */
  private reject(counter: Counter, nowMs: number): Ban | undefined {
    const { banAfterRejections, banSeconds } = this.config;
    if (banAfterRejections === 0 || ++counter.rejections <= banAfterRejections) return undefined;
    counter.ban = nextBan(counter.ban, nowMs, banSeconds * 1000);
    counter.rejections = 0;
    return counter.ban;
  }
}

function decide(counter: Counter, nowMs: number, admitted: boolean): Decision {
  const { minute, minuteUsed, day, dayUsed, ban } = counter;
  const bannedUntilMs = ban !== undefined && ban.until > nowMs ? ban.until : 0;
  return { admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs };
}

function newCounter(key: string, nowMs: number): Counter {
  const windows = { minute: minuteOf(nowMs), minuteUsed: 0, day: dayOf(nowMs), dayUsed: 0 };
  return { key, ...windows, rejections: 0, ban: undefined };
}

/** Starts the windows of `nowMs`, if they are later than the counter's. */
function advance(counter: Counter, nowMs: number): Counter {
  const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
  if (minute > counter.minute) {
    counter.minute = minute;
    counter.minuteUsed = 0;
    counter.rejections = 0;
  }
  if (day > counter.day) {
    counter.day = day;
    counter.dayUsed = 0;
  }
  return counter;
}
