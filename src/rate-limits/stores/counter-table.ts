import type { Ban } from '../bans/bans.js';
import type { SavedCount } from '../counter-ledger.js';
import { doubled, NameNumbers, rowsOf } from '../names.js';
import type { Subject } from '../subject.js';

/** The counts of one subject in the windows it was last seen in. */
export interface Counter extends SavedCount {
  /** Refusals in `minute`. */
  refusals: number;
  ban: Ban | undefined;
}

const FIRST_ROWS = 1_024;
const [MINUTE, MINUTE_USED, DAY, DAY_USED, DAY_USED_WORDS, REFUSALS, COLUMNS] = [
  0, 1, 2, 3, 4, 5, 6,
];
/** A day may admit more than 32 bits can tell. That is put apart, for a double costs every request. */
const WORD = 2 ** 32;

/**
 * Counters by subject, in rows of integers: there may be millions, and a row takes 24 bytes where an object
 * would take 90. What is asked for is a copy, so a counter that was changed has to be set again.
 */
export class CounterTable {
  private readonly rows = new NameNumbers();
  private cells = new Uint32Array(FIRST_ROWS * COLUMNS);
  /** Of each row, whether it waits for something. */
  private marks = new Uint8Array(FIRST_ROWS);
  /** Of few: a ban has to be earned. */
  private readonly bans = new Map<Subject, Ban>();
  /** Rows are taken in turn: those behind the last ones that were dropped are about the longest known. */
  private nextToDrop = 0;

  get size(): number {
    return this.rows.size;
  }

  has(subject: Subject): boolean {
    return this.rows.find(subject) !== undefined;
  }

  get(subject: Subject): Counter | undefined {
    const row = this.rows.find(subject);
    if (row === undefined) return undefined;
    const at = row * COLUMNS;
    const dayUsed = this.cells[at + DAY_USED]!;
    const words = this.cells[at + DAY_USED_WORDS]!;
    return {
      subject,
      minute: this.cells[at + MINUTE]!,
      minuteUsed: this.cells[at + MINUTE_USED]!,
      day: this.cells[at + DAY]!,
      dayUsed: words === 0 ? dayUsed : words * WORD + dayUsed,
      refusals: this.cells[at + REFUSALS]!,
      ban: this.bans.get(subject),
    };
  }

  set(counter: Counter): void {
    const { subject, ban } = counter;
    const row = this.rows.add(subject);
    if (row === this.marks.length) {
      this.cells = doubled(this.cells);
      this.marks = doubled(this.marks);
    }
    const at = row * COLUMNS;
    this.cells[at + MINUTE] = counter.minute;
    this.cells[at + MINUTE_USED] = counter.minuteUsed;
    this.cells[at + DAY] = counter.day;
    this.cells[at + DAY_USED] = counter.dayUsed;
    this.cells[at + DAY_USED_WORDS] =
      counter.dayUsed < WORD ? 0 : Math.floor(counter.dayUsed / WORD);
    this.cells[at + REFUSALS] = counter.refusals;
    if (ban !== undefined) this.bans.set(subject, ban);
  }

  /** Has it wait, where it is known. */
  mark(subject: Subject): void {
    const row = this.rows.find(subject);
    if (row !== undefined) this.marks[row] = 1;
  }

  /** Has it wait no more; returns whether it did. */
  unmark(subject: Subject): boolean {
    const row = this.rows.find(subject);
    if (row === undefined || this.marks[row] === 0) return false;
    this.marks[row] = 0;
    return true;
  }

  /** The rows of those that wait, however many there are. */
  marked(): number[] {
    return rowsOf(this.marks);
  }

  /** Whose row it is; empty where nobody's. */
  subjectOf(row: number): Subject {
    return this.rows.nameOf(row);
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
    const { length } = this.rows;
    for (let looked = 0; looked < length && dropped.length < most; looked++) {
      const row = this.nextToDrop;
      this.nextToDrop = (row + 1) % length;
      const day = this.cells[row * COLUMNS + DAY]!;
      // Before its name is made, for most of a full table may not go.
      if (!mayGo(day, undefined)) continue;
      const subject = this.rows.nameOf(row);
      if (subject === '' || !mayGo(day, this.bans.get(subject))) continue;
      this.rows.remove(row);
      this.bans.delete(subject);
      this.marks[row] = 0;
      dropped.push(subject);
    }
    return dropped;
  }
}
