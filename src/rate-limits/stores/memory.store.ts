import { takeFirst } from '../../database/in-batches.js';
import type { Clock } from '../../time/clock.js';
import { dayBefore, dayOf, minuteOf } from '../../time/windows.js';
import { isWorthSaving } from '../address-worth.js';
import { type Ban, type BanPolicy, nextBan } from '../bans/bans.js';
import type { SavedCount } from '../counter-ledger.js';
import {
  fullUntilMs,
  type FurtherCount,
  FurtherCounts,
  type FurtherLimit,
} from '../further-limit.js';
import type { Limits } from '../limits.js';
import { grown, type NameHolder, RowQueue, SharedNames } from '../names.js';
import { isClient, type Subject } from '../subject.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';

/** The counts of one subject in the windows it was last seen in. */
export interface Counter extends SavedCount {
  /** Refusals in `minute`. */
  refusals: number;
  ban: Ban | undefined;
}

const FIRST_ROWS = 1_024;
const [MINUTE, MINUTE_USED, DAY, DAY_USED, REFUSALS, COLUMNS] = [0, 1, 2, 3, 4, 5];
/** What a row is marked with: that it is somebody's, and that it waits for something. */
const [KNOWN, WAITS] = [1, 2];
/** A day may admit more than 32 bits can tell. That is put apart, for a double costs every request. */
const WORD = 2 ** 32;

/**
 * Counters by subject, in rows of integers, each at the number of its name: there may be millions, and a row takes 20
 * bytes where an object would take 90. What is asked for is a copy, so a counter that was changed has to be set again.
 */
export class CounterTable implements NameHolder {
  /** Rows that have changed since they were last saved. */
  readonly unsaved = new RowQueue();
  private cells = new Uint32Array(FIRST_ROWS * COLUMNS);
  private marks = new Uint8Array(FIRST_ROWS);
  /** How many times 32 bits a day's count is beyond what its cell tells, by row: hardly anyone comes that far. */
  private readonly daysUsedWords = new Map<number, number>();
  /** Of few: a ban has to be earned. */
  private readonly bans = new Map<Subject, Ban>();
  /** Rows are taken in turn: those behind the last ones that were dropped are about the longest known. */
  private nextToDrop = 0;
  private known = 0;

  constructor(private readonly names: SharedNames) {
    names.addHolder(this);
  }

  get size(): number {
    return this.known;
  }

  has(subject: Subject): boolean {
    return this.rowOf(subject) !== undefined;
  }

  get(subject: Subject): Counter | undefined {
    const row = this.rowOf(subject);
    return row === undefined ? undefined : this.counterAt(row, subject);
  }

  /** @param row of those that are known */
  at(row: number): Counter {
    return this.counterAt(row, this.names.nameOf(row));
  }

  /** Returns its row. */
  set(counter: Counter): number {
    const { subject, ban } = counter;
    const row = this.names.add(subject);
    if (row >= this.marks.length) {
      this.marks = grown(this.marks, row + 1);
      this.cells = grown(this.cells, this.marks.length * COLUMNS);
    }
    if (this.marks[row] === 0) {
      this.marks[row] = KNOWN;
      this.known++;
    }
    const at = row * COLUMNS;
    this.cells[at + MINUTE] = counter.minute;
    this.cells[at + MINUTE_USED] = counter.minuteUsed;
    this.cells[at + DAY] = counter.day;
    this.cells[at + DAY_USED] = counter.dayUsed;
    this.cells[at + REFUSALS] = counter.refusals;
    if (ban !== undefined) this.bans.set(subject, ban);
    if (counter.dayUsed >= WORD) this.daysUsedWords.set(row, Math.floor(counter.dayUsed / WORD));
    else if (this.daysUsedWords.size > 0) this.daysUsedWords.delete(row);
    return row;
  }

  /** Has it wait to be saved, where it is known. */
  putBack(subject: Subject): void {
    const row = this.rowOf(subject);
    if (row !== undefined) this.unsaved.add(row);
  }

  /** Has it wait, where it is known. */
  mark(subject: Subject): void {
    const row = this.rowOf(subject);
    if (row !== undefined) this.marks[row] = KNOWN | WAITS;
  }

  /** Has it wait no more; returns whether it did. */
  unmark(row: number): boolean {
    if (this.marks[row]! <= KNOWN) return false;
    this.marks[row] = KNOWN;
    return true;
  }

  /** The rows of those that wait, however many there are. */
  marked(): Uint32Array {
    const rows = new Uint32Array(this.known);
    let count = 0;
    for (let row = 0; row < this.marks.length; row++)
      if (this.marks[row]! > KNOWN) rows[count++] = row;
    return rows.subarray(0, count);
  }

  markHeld(marks: Uint8Array): void {
    for (let row = 0; row < this.marks.length; row++) if (this.marks[row]! > 0) marks[row] = 1;
  }

  /** Whose row it is; empty where nobody's. */
  subjectOf(row: number): Subject {
    return this.names.nameOf(row);
  }

  /** The last ban of a subject. */
  banOf(subject: Subject): Ban | undefined {
    return this.bans.get(subject);
  }

  /**
   * Drops those that may go, about the longest known first.
   * @param most so many at most
   * @param mayGo with a ban, only who may go without it
   * @returns who they were
   */
  drop(most: number, mayGo: (day: number, ban: Ban | undefined) => boolean): Subject[] {
    const dropped: Subject[] = [];
    const { length } = this.marks;
    for (let looked = 0; looked < length && dropped.length < most; looked++) {
      const row = this.nextToDrop;
      this.nextToDrop = (row + 1) % length;
      if (this.marks[row] === 0) continue;
      const day = this.cells[row * COLUMNS + DAY]!;
      // Before its name is made, for most of a full table may not go.
      if (!mayGo(day, undefined)) continue;
      const subject = this.names.nameOf(row);
      if (!mayGo(day, this.bans.get(subject))) continue;
      this.bans.delete(subject);
      this.daysUsedWords.delete(row);
      this.marks[row] = 0;
      this.known--;
      this.unsaved.delete(row);
      dropped.push(subject);
    }
    return dropped;
  }

  private rowOf(subject: Subject): number | undefined {
    const row = this.names.find(subject);
    return row !== undefined && this.marks[row]! > 0 ? row : undefined;
  }

  private counterAt(row: number, subject: Subject): Counter {
    const at = row * COLUMNS;
    const dayUsed = this.cells[at + DAY_USED]!;
    const words = this.daysUsedWords.size > 0 ? this.daysUsedWords.get(row) : undefined;
    return {
      subject,
      minute: this.cells[at + MINUTE]!,
      minuteUsed: this.cells[at + MINUTE_USED]!,
      day: this.cells[at + DAY]!,
      dayUsed: words === undefined ? dayUsed : words * WORD + dayUsed,
      refusals: this.cells[at + REFUSALS]!,
      ban: this.bans.get(subject),
    };
  }
}

/** Of so many addresses all are saved; more are a flood. */
const FEW_SHARE = 0.1;

/**
 * Counters in this process: two integers per subject, exact because nothing is awaited between judging
 * and counting.
 *
 * Memory is bounded. Addresses, which can be made up at will, and clients are kept apart, so that no number
 * of addresses tried pushes out the counts of a client. Where either is
 * full, subjects whose windows are over go first, then about the longest known, and banned ones last.
 *
 * A clock that is set back must not refill a quota: a window never gives way to an earlier one. A `SteadyClock` besides
 * keeps the word of whoever was told how long to wait.
 */
export class MemoryStore extends RateLimitStore {
  readonly mode = 'memory';
  private readonly clients: CounterTable;
  private readonly addresses = new CounterTable(new SharedNames());
  /** In each of them its own rows wait, marked, to be brought to those of the database. */
  readonly tables: readonly CounterTable[];
  private readonly further = new FurtherCounts();
  /** Those of the addresses known here of which the database may have a row, or have one soon. */
  private readonly savedAddresses = new Set<Subject>();
  /** Addresses of which the database may have a row, and of which nothing is known here any more: nothing is to be kept of them. */
  private readonly dropped = new Set<Subject>();

  constructor(
    private readonly clock: Clock & { readonly aheadMs?: number },
    private readonly policy: BanPolicy,
    names = new SharedNames(),
    readonly capacity = { clients: 2_000_000, addresses: 100_000 },
  ) {
    super();
    this.clients = new CounterTable(names);
    this.tables = [this.clients, this.addresses];
  }

  take(subject: Subject, limits: Omit<Limits, 'policy'>, further?: FurtherLimit): Decision {
    const nowMs = this.clock.now();
    const counter = this.counterOf(subject, nowMs);
    const { ban } = counter;
    if (ban !== undefined && ban.until > nowMs) return this.refusal(counter, nowMs, ban.until);

    const furtherCount = further && this.further.at(subject, further, nowMs);
    const furtherFullUntilMs = furtherCount ? fullUntilMs(further, furtherCount) : 0;
    if (counter.minuteUsed < limits.perMinute && counter.dayUsed < limits.perDay) {
      if (furtherFullUntilMs > 0) return { ...this.refusal(counter, nowMs, 0), furtherFullUntilMs };
      if (furtherCount !== undefined) furtherCount.used++;
      counter.minuteUsed++;
      counter.dayUsed++;
      this.keepUnsaved(counter, limits);
      return this.decision(counter, nowMs);
    }
    const newBan = isClient(subject) ? this.refuse(counter, nowMs) : undefined;
    this.keep(counter);
    const refused = this.refusal(counter, nowMs, newBan?.until ?? 0);
    if (newBan !== undefined) return { ...refused, newBan, beganBan: true, furtherFullUntilMs };
    return furtherFullUntilMs > 0 ? { ...refused, furtherFullUntilMs } : refused;
  }

  peek(subject: Subject): Decision {
    const nowMs = this.clock.now();
    const counter = this.known(subject) ?? emptyCounter(subject, nowMs);
    advance(counter, nowMs);
    const until = counter.ban?.until ?? 0;
    return until > nowMs ? this.refusal(counter, nowMs, until) : this.decision(counter, nowMs);
  }

  unban(subject: Subject): void {
    const ban = this.tableOf(subject).banOf(subject);
    if (ban !== undefined) this.restoreBan(subject, { ...ban, until: 0 });
  }

  isBanned(subject: Subject): boolean {
    const ban = this.clients.banOf(subject);
    return ban !== undefined && ban.until > this.clock.now();
  }

  /** What was known of a subject when it was last counted: a copy. */
  known(subject: Subject): Counter | undefined {
    return this.tableOf(subject).get(subject);
  }

  /** What is known of a further limit; it may be changed in place. */
  furtherCount(subject: Subject, further: FurtherLimit): FurtherCount {
    return this.further.at(subject, further, this.clock.now());
  }

  /** Takes over a count made elsewhere, where it is higher. */
  restore(saved: SavedCount): void {
    this.keep(this.restored(saved));
    this.noteSaved(saved.subject);
  }

  /** Takes over a count that may be lost where it was made. */
  mirror(count: SavedCount, limits: Limits): void {
    this.keepUnsaved(this.restored(count), limits);
  }

  /** Takes over a ban, or the end of one, that came about elsewhere. An older one than known is not news. */
  restoreBan(subject: Subject, ban: Ban): void {
    const counter = this.counterOf(subject, this.clock.now());
    if (counter.ban !== undefined && counter.ban.at > ban.at) return;
    if (counter.ban?.until !== ban.until) counter.refusals = 0;
    counter.ban = ban;
    this.keep(counter);
  }

  /** How many counters have changed since they were last saved. */
  get unsavedCount(): number {
    return this.clients.unsaved.size + this.addresses.unsaved.size;
  }

  /**
   * Takes the first ones of the counters that have changed, so many at most, to be saved. Of a day that is long over
   * nothing is left to be refilled: those are left out.
   */
  takeUnsaved(most: number): SavedCount[] {
    const counters: Counter[] = [];
    for (const table of this.tables) {
      const rows = table.unsaved.take(most - counters.length);
      counters.push(...rows.map((row) => table.at(row)));
    }
    return this.worthSaving(counters);
  }

  /** Takes back counters that could not be saved; those of which nothing is known any more are lost. */
  putBack(counts: readonly SavedCount[]): void {
    for (const { subject } of counts) this.tableOf(subject).putBack(subject);
  }

  /** These were written down, and wait until they are brought to rows of their own. */
  markUnbrought(counts: readonly SavedCount[]): void {
    for (const { subject } of counts) this.tableOf(subject).mark(subject);
  }

  /** Takes the counters of those that still wait, to be brought to rows of the database. */
  takeUnbrought(table: CounterTable, rows: readonly number[]): SavedCount[] {
    const waiting = rows.filter((row) => table.unmark(row));
    const counts = this.worthSaving(waiting.map((row) => table.at(row)));
    for (const { subject } of counts) this.noteSaved(subject);
    return counts;
  }

  /** They have rows now: of an address that was forgotten meanwhile, none is to be kept. */
  noteBrought(counts: readonly SavedCount[]): void {
    for (const { subject } of counts) {
      if (isClient(subject)) continue;
      if (this.addresses.has(subject)) this.noteSaved(subject);
      else this.dropped.add(subject);
    }
  }

  /** How many addresses have to be removed from the database, which keeps no more of them than are known here. */
  get droppedCount(): number {
    return this.dropped.size;
  }

  /** Takes the first ones of them, so many at most; not those that have come back meanwhile. */
  takeDropped(most: number): Subject[] {
    const [gone, back]: [Subject[], Subject[]] = [[], []];
    for (const subject of takeFirst(this.dropped, most)) {
      (this.addresses.has(subject) ? back : gone).push(subject);
    }
    for (const subject of back) this.noteSaved(subject);
    return gone;
  }

  /** Takes back what could not be removed. */
  putBackDropped(subjects: readonly Subject[]): void {
    for (const subject of subjects) this.dropped.add(subject);
  }

  /** How many subjects are known. */
  get size(): number {
    return this.clients.size + this.addresses.size;
  }

  private restored(saved: SavedCount): Counter {
    const nowMs = this.clock.now();
    const counter = this.counterOf(saved.subject, nowMs);
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
    advance(counter, nowMs);
    return counter;
  }

  private keepUnsaved(counter: Counter, limits: Omit<Limits, 'policy'>): void {
    const { subject } = counter;
    const table = this.tableOf(subject);
    const row = table.set(counter);
    if (isClient(subject) || this.areAddressesFew || isWorthSaving(counter, limits)) {
      table.unsaved.add(row);
    }
  }

  private get areAddressesFew(): boolean {
    return this.addresses.size < this.capacity.addresses * FEW_SHARE;
  }

  /** All but those of a day that is long over. */
  private worthSaving(counters: readonly Counter[]): SavedCount[] {
    const oldest = dayBefore(this.clock.now());
    return counters.filter(({ day }) => day >= oldest);
  }

  private noteSaved(subject: Subject): void {
    if (!isClient(subject)) this.savedAddresses.add(subject);
  }

  private keep(counter: Counter): void {
    this.tableOf(counter.subject).set(counter);
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

  private decision(counter: Counter, nowMs: number): Decision {
    const { minute, minuteUsed, day, dayUsed } = counter;
    const { aheadMs = 0 } = this.clock;
    return {
      admitted: true,
      nowMs,
      aheadMs,
      minute,
      minuteUsed,
      day,
      dayUsed,
      bannedUntilMs: 0,
    };
  }

  private refusal(counter: Counter, nowMs: number, bannedUntilMs: number): Decision {
    return { ...this.decision(counter, nowMs), admitted: false, bannedUntilMs };
  }

  private tableOf(subject: Subject): CounterTable {
    return isClient(subject) ? this.clients : this.addresses;
  }

  /** The counter at this moment; room is made for a new one. */
  private counterOf(subject: Subject, nowMs: number): Counter {
    const table = this.tableOf(subject);
    const counter = table.get(subject);
    if (counter !== undefined) {
      advance(counter, nowMs);
      return counter;
    }
    const { clients, addresses } = this.capacity;
    if (table.size >= (table === this.clients ? clients : addresses)) this.makeRoom(table, nowMs);
    return emptyCounter(subject, nowMs);
  }

  /** Drops a part at once: dropping one at a time would make every newcomer pay for a search. */
  private makeRoom(table: CounterTable, nowMs: number): void {
    const today = dayOf(nowMs);
    const isBanned = (ban: Ban | undefined): boolean => ban !== undefined && ban.until > nowMs;
    const leastMissedFirst = [
      (day: number, ban: Ban | undefined) => day < today && !isBanned(ban),
      (_day: number, ban: Ban | undefined) => !isBanned(ban),
      () => true,
    ];
    let wanted = Math.ceil(table.size / 16);
    for (const mayGo of leastMissedFirst) {
      const dropped = table.drop(wanted, mayGo);
      for (const subject of dropped) {
        if (this.savedAddresses.delete(subject)) this.dropped.add(subject);
      }
      wanted -= dropped.length;
    }
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
