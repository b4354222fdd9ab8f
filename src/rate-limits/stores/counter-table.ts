import type { Ban } from '../bans/bans.js';
import type { SavedCount } from '../counter-ledger.js';
import { grown } from '../names.js';
import { type NameHolder, RowQueue, type SharedNames } from '../shared-names.js';
import type { Subject } from '../limits.js';

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
