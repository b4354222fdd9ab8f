import type { Clock } from '../../time/clock.js';
import { type Ban, type BanPolicy, nextBan } from '../bans/bans.js';
import type { SavedCount } from '../counter-ledger.js';
import {
  type FurtherCount,
  FurtherCounts,
  type FurtherLimit,
  fullUntilMs,
} from '../further-limit.js';
import type { Limits } from '../limits.js';
import { isClient, type Subject } from '../subject.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';
import { dayOf, minuteOf } from '../../time/windows.js';

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
  /** To make room; what of it was not saved is lost. */
  forgotten(counter: Counter): void;
}

/**
 * Counters in this process: two integers per subject, exact because nothing is awaited between judging
 * and counting.
 *
 * Memory is bounded. Addresses, which can be made up at will, and clients are kept apart, so that no number
 * of addresses tried pushes out the counts of a client. Where either is
 * full, subjects whose windows are over go first, then the longest known, and banned ones last.
 *
 * A clock that is set back must not refill a quota: a window never gives way to an earlier one.
 */
export class MemoryStore extends RateLimitStore {
  readonly mode = 'memory';
  private readonly clients = new Map<Subject, Counter>();
  private readonly addresses = new Map<Subject, Counter>();
  private readonly further = new FurtherCounts();
  private listener: CounterListener | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly policy: BanPolicy,
    readonly capacity = { clients: 2_000_000, addresses: 100_000 },
  ) {
    super();
  }

  listen(listener: CounterListener): void {
    this.listener = listener;
  }

  take(subject: Subject, limits: Omit<Limits, 'policy'>, further?: FurtherLimit): Decision {
    const nowMs = this.clock.now();
    const counter = this.counterOf(subject, nowMs);
    const { ban } = counter;
    if (ban !== undefined && ban.until > nowMs) return refusal(counter, nowMs, ban.until);

    const furtherCount = further && this.further.at(subject, further, nowMs);
    const furtherFullUntilMs = furtherCount ? fullUntilMs(further, furtherCount) : 0;
    if (counter.minuteUsed < limits.perMinute && counter.dayUsed < limits.perDay) {
      if (furtherFullUntilMs > 0) return { ...refusal(counter, nowMs, 0), furtherFullUntilMs };
      if (furtherCount !== undefined) furtherCount.used++;
      counter.minuteUsed++;
      counter.dayUsed++;
      this.tell(counter);
      return decision(counter, nowMs);
    }
    const newBan = isClient(subject) ? this.refuse(counter, nowMs) : undefined;
    const refused = refusal(counter, nowMs, newBan?.until ?? 0);
    if (newBan !== undefined) return { ...refused, newBan, beganBan: true, furtherFullUntilMs };
    return furtherFullUntilMs > 0 ? { ...refused, furtherFullUntilMs } : refused;
  }

  peek(subject: Subject): Decision {
    const nowMs = this.clock.now();
    const counter = this.find(subject);
    if (counter === undefined) return decision(emptyCounter(subject, nowMs), nowMs);
    advance(counter, nowMs);
    const until = counter.ban?.until ?? 0;
    return until > nowMs ? refusal(counter, nowMs, until) : decision(counter, nowMs);
  }

  unban(subject: Subject): void {
    const counter = this.find(subject);
    if (counter?.ban !== undefined) this.restoreBan(subject, { ...counter.ban, until: 0 });
  }

  isBanned(subject: Subject): boolean {
    const ban = this.clients.get(subject)?.ban;
    return ban !== undefined && ban.until > this.clock.now();
  }

  /** What was known of a subject when it was last counted. */
  known(subject: Subject): Readonly<Counter> | undefined {
    return this.find(subject);
  }

  /** What is known of a further limit; it may be changed in place. */
  furtherCount(subject: Subject, further: FurtherLimit): FurtherCount {
    return this.further.at(subject, further, this.clock.now());
  }

  /** Takes over a count made elsewhere, where it is higher. */
  restore(saved: SavedCount): Counter {
    const counter = this.counterOf(saved.subject, this.clock.now());
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
    return counter;
  }

  /** Takes over a count that may be lost where it was made. */
  mirror(count: SavedCount): void {
    this.tell(this.restore(count));
  }

  /** Takes over a ban, or the end of one, that came about elsewhere. An older one than known is not news. */
  restoreBan(subject: Subject, ban: Ban): void {
    const counter = this.counterOf(subject, this.clock.now());
    if (counter.ban !== undefined && counter.ban.at > ban.at) return;
    if (counter.ban?.until !== ban.until) counter.refusals = 0;
    counter.ban = ban;
  }

  /** How many subjects are known. */
  get size(): number {
    return this.clients.size + this.addresses.size;
  }

  private tell(counter: Counter): void {
    if (counter.unsaved) return;
    counter.unsaved = true;
    this.listener?.counted(counter);
  }

  /** Counts a refusal; the ban that it led to. */
  private refuse(counter: Counter, nowMs: number): Ban | undefined {
    const { afterRejections } = this.policy;
    if (afterRejections === 0 || ++counter.refusals <= afterRejections) return undefined;
    const ban = nextBan(counter.ban, nowMs, this.policy);
    counter.ban = ban;
    counter.refusals = 0;
    return ban;
  }

  private find(subject: Subject): Counter | undefined {
    return this.countersOf(subject).get(subject);
  }

  private countersOf(subject: Subject): Map<Subject, Counter> {
    return isClient(subject) ? this.clients : this.addresses;
  }

  private counterOf(subject: Subject, nowMs: number): Counter {
    const counters = this.countersOf(subject);
    let counter = counters.get(subject);
    if (counter !== undefined) {
      advance(counter, nowMs);
      return counter;
    }
    const { clients, addresses } = this.capacity;
    if (counters.size >= (counters === this.clients ? clients : addresses)) {
      makeRoom(counters, nowMs, this.listener);
    }
    counter = emptyCounter(subject, nowMs);
    counters.set(subject, counter);
    return counter;
  }
}

function emptyCounter(subject: Subject, nowMs: number): Counter {
  return {
    subject,
    minute: minuteOf(nowMs),
    minuteUsed: 0,
    day: dayOf(nowMs),
    dayUsed: 0,
    refusals: 0,
    ban: undefined,
    unsaved: false,
  };
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
function makeRoom(
  counters: Map<Subject, Counter>,
  nowMs: number,
  listener: CounterListener | undefined,
): void {
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
      listener?.forgotten(counter);
      wanted--;
    }
  }
}

function decision({ minute, minuteUsed, day, dayUsed }: Counter, nowMs: number): Decision {
  return { admitted: true, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs: 0 };
}

function refusal(
  { minute, minuteUsed, day, dayUsed }: Counter,
  nowMs: number,
  bannedUntilMs: number,
): Decision {
  return { admitted: false, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs };
}
