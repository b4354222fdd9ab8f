import type { Clock } from '../config/clock.js';
import { type Ban, type BanPolicy, nextBan } from './bans.js';
import type { SavedCount } from './counter-ledger.js';
import type { Limits } from './limits.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import { dayOf, minuteOf } from './windows.js';

/** The counts of one subject in the windows it was last seen in. */
export interface Counter extends SavedCount {
  /** Refusals in `minute`. */
  refusals: number;
  ban: Ban | undefined;
  /** Whether it has changed since it was last saved. */
  unsaved: boolean;
}

/** Told of what must outlive the process. */
export interface CounterListener {
  counted(counter: Counter): void;
  banned(counter: Counter, ban: Ban): void;
}

/**
 * Counters in this process: two integers per subject, exact because nothing is awaited between judging
 * and counting.
 *
 * Memory is bounded. A subject that can be made up at will (an address) and one that cannot (a key) are
 * kept apart, so that no number of addresses tried pushes out the counts of a key. Where either is
 * full, subjects whose windows are over go first, then the longest known, and banned ones last.
 *
 * A clock that is set back must not refill a quota: a window never gives way to an earlier one.
 */
export class MemoryStore extends RateLimitStore {
  readonly mode = 'memory';
  private readonly keys = new Map<string, Counter>();
  private readonly addresses = new Map<string, Counter>();
  private listener: CounterListener | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly policy: BanPolicy,
    readonly capacity = { keys: 2_000_000, addresses: 100_000 },
  ) {
    super();
  }

  listen(listener: CounterListener): void {
    this.listener = listener;
  }

  take(subject: string, limits: Omit<Limits, 'policy'>): Decision {
    const nowMs = this.clock.now();
    const counter = this.counterOf(subject, limits.bans, nowMs);
    const { ban } = counter;
    if (ban !== undefined && ban.until > nowMs) return refusal(counter, nowMs, ban.until);

    if (counter.minuteUsed < limits.perMinute && counter.dayUsed < limits.perDay) {
      counter.minuteUsed++;
      counter.dayUsed++;
      if (!counter.unsaved) {
        counter.unsaved = true;
        this.listener?.counted(counter);
      }
      return decision(counter, nowMs);
    }
    return refusal(counter, nowMs, limits.bans ? this.refuse(counter, nowMs) : 0);
  }

  peek(subject: string): Decision {
    const nowMs = this.clock.now();
    const counter = this.find(subject);
    if (counter === undefined) {
      return { admitted: true, nowMs, minuteUsed: 0, dayUsed: 0, bannedUntilMs: 0 };
    }
    advance(counter, nowMs);
    const until = counter.ban?.until ?? 0;
    return until > nowMs ? refusal(counter, nowMs, until) : decision(counter, nowMs);
  }

  unban(subject: string): void {
    const counter = this.find(subject);
    if (counter?.ban !== undefined) this.restoreBan(subject, { ...counter.ban, until: 0 });
  }

  isBanned(subject: string): boolean {
    const ban = this.keys.get(subject)?.ban;
    return ban !== undefined && ban.until > this.clock.now();
  }

  /** What was known of a subject when it was last counted. */
  known(subject: string): Readonly<Counter> | undefined {
    return this.find(subject);
  }

  /** Takes over a count made elsewhere, where it is higher. */
  restore(saved: SavedCount): void {
    const counter = this.counterOf(saved.subject, !isAddress(saved.subject), this.clock.now());
    if (saved.minute >= counter.minute) {
      if (saved.minute > counter.minute) counter.minuteUsed = 0;
      counter.minute = saved.minute;
      counter.minuteUsed = Math.max(counter.minuteUsed, saved.minuteUsed);
    }
    if (saved.day >= counter.day) {
      if (saved.day > counter.day) counter.dayUsed = 0;
      counter.day = saved.day;
      counter.dayUsed = Math.max(counter.dayUsed, saved.dayUsed);
    }
    advance(counter, this.clock.now());
  }

  /** Takes over a ban, or the end of one, that came about elsewhere. An older one than known is not news. */
  restoreBan(subject: string, ban: Ban): void {
    const counter = this.counterOf(subject, true, this.clock.now());
    if (counter.ban !== undefined && counter.ban.at > ban.at) return;
    if (counter.ban?.until !== ban.until) counter.refusals = 0;
    counter.ban = ban;
  }

  /** How many subjects are known. */
  get size(): number {
    return this.keys.size + this.addresses.size;
  }

  /** Counts a refusal; the end of the ban that it led to, or 0. */
  private refuse(counter: Counter, nowMs: number): number {
    const { afterRejections } = this.policy;
    if (afterRejections === 0 || ++counter.refusals <= afterRejections) return 0;
    const ban = nextBan(counter.ban, nowMs, this.policy);
    counter.ban = ban;
    counter.refusals = 0;
    this.listener?.banned(counter, ban);
    return ban.until;
  }

  private find(subject: string): Counter | undefined {
    return this.keys.get(subject) ?? this.addresses.get(subject);
  }

  private counterOf(subject: string, isKey: boolean, nowMs: number): Counter {
    const counters = isKey ? this.keys : this.addresses;
    let counter = counters.get(subject);
    if (counter !== undefined) {
      advance(counter, nowMs);
      return counter;
    }
    const capacity = isKey ? this.capacity.keys : this.capacity.addresses;
    if (counters.size >= capacity) makeRoom(counters, nowMs);
    counter = {
      subject,
      minute: minuteOf(nowMs),
      minuteUsed: 0,
      day: dayOf(nowMs),
      dayUsed: 0,
      refusals: 0,
      ban: undefined,
      unsaved: false,
    };
    counters.set(subject, counter);
    return counter;
  }
}

/** The subject of a client address; see `Quota`. */
export function addressSubject(address: string): string {
  return `ip:${address}`;
}

function isAddress(subject: string): boolean {
  return subject.startsWith('ip:');
}

function advance(counter: Counter, nowMs: number): void {
  const minute = minuteOf(nowMs);
  if (minute > counter.minute) {
    counter.minute = minute;
    counter.minuteUsed = 0;
    counter.refusals = 0;
    const day = dayOf(nowMs);
    if (day > counter.day) {
      counter.day = day;
      counter.dayUsed = 0;
    }
  }
}

/** Drops a part at once: dropping one at a time would make every newcomer pay for a search. */
function makeRoom(counters: Map<string, Counter>, nowMs: number): void {
  const today = dayOf(nowMs);
  const isBanned = ({ ban }: Counter): boolean => ban !== undefined && ban.until > nowMs;
  const leastMissedFirst = [
    (counter: Counter) => counter.day < today && !isBanned(counter),
    (counter: Counter) => !isBanned(counter),
    () => true,
  ];
  let wanted = Math.ceil(counters.size / 16);
  for (const isExpendable of leastMissedFirst) {
    for (const [subject, counter] of counters) {
      if (wanted === 0) return;
      if (!isExpendable(counter)) continue;
      counters.delete(subject);
      wanted--;
    }
  }
}

function decision({ minuteUsed, dayUsed }: Counter, nowMs: number): Decision {
  return { admitted: true, nowMs, minuteUsed, dayUsed, bannedUntilMs: 0 };
}

function refusal({ minuteUsed, dayUsed }: Counter, nowMs: number, bannedUntilMs: number): Decision {
  return { admitted: false, nowMs, minuteUsed, dayUsed, bannedUntilMs };
}
