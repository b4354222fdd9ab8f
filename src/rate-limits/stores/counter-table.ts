import type { Ban } from '../bans/bans.js';
import type { SavedCount } from '../counter-ledger.js';
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
  private readonly rows = new Map<Subject, number>();
  private readonly freeRows: number[] = [];
  private usedRows = 0;
  private cells = new Uint32Array(FIRST_ROWS * COLUMNS);
  /** Of each row, whether it waits for something. */
  private marks = new Uint8Array(FIRST_ROWS);
  /** Of few: a ban has to be earned. */
  private readonly bans = new Map<Subject, Ban>();

  get size(): number {
    return this.rows.size;
  }

  has(subject: Subject): boolean {
    return this.rows.has(subject);
  }

  get(subject: Subject): Counter | undefined {
    const row = this.rows.get(subject);
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
    let row = this.rows.get(subject);
    if (row === undefined) {
      row = this.newRow();
      this.rows.set(subject, row);
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
    const row = this.rows.get(subject);
    if (row !== undefined) this.marks[row] = 1;
  }

  /** Has it wait no more; returns whether it did. */
  unmark(subject: Subject): boolean {
    const row = this.rows.get(subject);
    if (row === undefined || this.marks[row] === 0) return false;
    this.marks[row] = 0;
    return true;
  }

  /**
   * Those that wait; undefined in the place of each that does not. It may go on while others come and go, and names one
   * that has gone and come back twice.
   */
  *marked(): Generator<Subject | undefined> {
    for (const [subject, row] of this.rows) yield this.marks[row] === 1 ? subject : undefined;
  }

  /** The last ban of a subject. */
  banOf(subject: Subject): Ban | undefined {
    return this.bans.get(subject);
  }

  /** Drops the longest known of those that may go, so many at most; returns who they were. */
  drop(most: number, mayGo: (day: number, ban: Ban | undefined) => boolean): Subject[] {
    const dropped: Subject[] = [];
    for (const [subject, row] of this.rows) {
      if (dropped.length >= most) break;
      if (!mayGo(this.cells[row * COLUMNS + DAY]!, this.bans.get(subject))) continue;
      this.rows.delete(subject);
      this.bans.delete(subject);
      this.marks[row] = 0;
      this.freeRows.push(row);
      dropped.push(subject);
    }
    return dropped;
  }

  private newRow(): number {
    const freed = this.freeRows.pop();
    if (freed !== undefined) return freed;
    const { cells, marks } = this;
    if (this.usedRows === marks.length) {
      this.cells = new Uint32Array(cells.length * 2);
      this.cells.set(cells);
      this.marks = new Uint8Array(marks.length * 2);
      this.marks.set(marks);
    }
    return this.usedRows++;
  }
}
