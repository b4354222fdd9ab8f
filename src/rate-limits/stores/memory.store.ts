import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Config } from '../../config/config.js';
import { Clock } from '../../time/clock.js';
import { dayOf, minuteOf } from '../../time/windows.js';
import { type Ban, mergeBans, nextBan } from '../bans/bans.js';
import type { FurtherLimit, Limits } from '../limits.js';
import type { RateLimitCounter } from '../rate-limit-counter.entity.js';
import { isAddress, isClient } from '../rate-limit-key.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';

interface Counter extends RateLimitCounter {
  /** Rejected requests in `minute`. */
  refusals: number;
  ban: Ban | undefined;
  /** Counts of further limits, by operation. */
  further: Map<string, { window: number; used: number }> | undefined;
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
 * Memory is bounded: one counter per client, and the 100,000 most recently seen addresses. A
 * counter never moves to an earlier window, so a clock that is set back refills nothing.
 */
@Injectable()
export class MemoryStore extends RateLimitStore {
  readonly mode = 'local';
  private readonly clients = new Map<string, Counter>();
  /** With `max` in place of `maxSize`, it would allocate its lists immediately. */
  private readonly addresses = new LRUCache<string, Counter>({
    maxSize: MAX_ADDRESSES,
    sizeCalculation: () => 1,
    dispose: (counter) => this.changed.delete(counter),
  });
  private readonly changed = new Set<Counter>();

  constructor(
    private readonly clock: Clock,
    private readonly config: Config,
  ) {
    super();
  }

  take(subject: string, limits: Limits, further?: FurtherLimit): Decision {
    const nowMs = this.clock.now();
    const counter = this.counterOf(subject, nowMs);
    const { ban } = counter;
    if (ban !== undefined && ban.until > nowMs) return this.decide(counter, nowMs, false);

    const more = further && furtherCount(counter, further, nowMs);
    const isFurtherFull = more !== undefined && more.used >= further!.limit;
    const furtherFullUntilMs = isFurtherFull ? (more.window + 1) * further!.ttlMs : 0;
    if (counter.minuteUsed < limits.perMinute && counter.dayUsed < limits.perDay) {
      if (isFurtherFull) return { ...this.decide(counter, nowMs, false), furtherFullUntilMs };
      if (more) more.used++;
      counter.minuteUsed++;
      counter.dayUsed++;
      this.changed.add(counter);
      return this.decide(counter, nowMs, true);
    }
    const newBan = isClient(subject) ? this.refuse(counter, nowMs) : undefined;
    return { ...this.decide(counter, nowMs, false), newBan, furtherFullUntilMs };
  }

  peek(subject: string): Decision {
    const nowMs = this.clock.now();
    const counter = advance(this.find(subject) ?? newCounter(subject, nowMs), nowMs);
    return this.decide(counter, nowMs, (counter.ban?.until ?? 0) <= nowMs);
  }

  /** The last ban of a client, whether it has ended or not. */
  banOf(subject: string): Ban | undefined {
    return this.clients.get(subject)?.ban;
  }

  /** Raises a counter to a count that was made elsewhere, and never lowers it. */
  restore(count: RateLimitCounter): Counter {
    const counter = this.counterOf(count.subject, this.clock.now());
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
  restoreBan(subject: string, other: Ban): void {
    const counter = this.counterOf(subject, this.clock.now());
    const ban = mergeBans(counter.ban, other);
    if (counter.ban?.until !== ban.until) counter.refusals = 0;
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
    for (const { subject } of counts) {
      const counter = this.find(subject);
      if (counter) this.changed.add(counter);
    }
  }

  /** Forgets clients that were last counted before `day`. Their bans lasted a day at most. */
  forgetBefore(day: number): void {
    for (const [subject, counter] of this.clients) {
      if (counter.day >= day) continue;
      this.clients.delete(subject);
      this.changed.delete(counter);
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
    return this.clients.size + this.addresses.size;
  }

  private find(subject: string): Counter | undefined {
    return isAddress(subject) ? this.addresses.peek(subject) : this.clients.get(subject);
  }

  private counterOf(subject: string, nowMs: number): Counter {
    const counters = isAddress(subject) ? this.addresses : this.clients;
    const known = counters.get(subject);
    if (known) return advance(known, nowMs);
    const counter = newCounter(subject, nowMs);
    counters.set(subject, counter);
    return counter;
  }

  /** Counts a refusal. Returns the ban if this refusal exceeds the threshold. */
  private refuse(counter: Counter, nowMs: number): Ban | undefined {
    const { banAfterRejections, banSeconds } = this.config;
    if (banAfterRejections === 0 || ++counter.refusals <= banAfterRejections) return undefined;
    counter.ban = nextBan(counter.ban, nowMs, banSeconds * 1000);
    counter.refusals = 0;
    return counter.ban;
  }

  private decide(counter: Counter, nowMs: number, admitted: boolean): Decision {
    const { minute, minuteUsed, day, dayUsed, ban } = counter;
    return {
      admitted,
      nowMs,
      minute,
      minuteUsed,
      day,
      dayUsed,
      bannedUntilMs: ban !== undefined && ban.until > nowMs ? ban.until : 0,
    };
  }
}

function newCounter(subject: string, nowMs: number): Counter {
  const windows = { minute: minuteOf(nowMs), minuteUsed: 0, day: dayOf(nowMs), dayUsed: 0 };
  return { subject, ...windows, refusals: 0, ban: undefined, further: undefined };
}

/** The count in the window of a further limit. */
function furtherCount(counter: Counter, { operation, ttlMs }: FurtherLimit, nowMs: number) {
  counter.further ??= new Map();
  const window = Math.floor(nowMs / ttlMs);
  let count = counter.further.get(operation);
  if (count === undefined || count.window < window) {
    count = { window, used: 0 };
    counter.further.set(operation, count);
  }
  return count;
}

/** Starts the windows of `nowMs`, if they are later than those of the counter. */
function advance(counter: Counter, nowMs: number): Counter {
  const [minute, day] = [minuteOf(nowMs), dayOf(nowMs)];
  if (minute > counter.minute) {
    counter.minute = minute;
    counter.minuteUsed = 0;
    counter.refusals = 0;
  }
  if (day > counter.day) {
    counter.day = day;
    counter.dayUsed = 0;
  }
  return counter;
}
