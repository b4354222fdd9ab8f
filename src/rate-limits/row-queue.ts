import { grown } from './names.js';

const FIRST_ROWS = 1_024;

/**
 * Rows of a table that wait for something, each once, in the order in which they came. All of a crowd wait for a while:
 * in V8's heap, they would outlive its young generation.
 */
export class RowQueue {
  private waits = new Uint8Array(FIRST_ROWS);
  /** From `next` to `end`, some of which wait no more. */
  private rows = new Uint32Array(FIRST_ROWS);
  private next = 0;
  private end = 0;
  private count = 0;

  /** How many wait. */
  get size(): number {
    return this.count;
  }

  /** Has a row wait, where it stands if it does already. */
  add(row: number): void {
    if (row >= this.waits.length) this.waits = grown(this.waits, row + 1);
    if (this.waits[row] === 1) return;
    this.waits[row] = 1;
    if (this.end === this.rows.length) this.rows = grown(this.rows, this.end + 1);
    this.rows[this.end++] = row;
    this.count++;
  }

  delete(row: number): void {
    if (row >= this.waits.length || this.waits[row] === 0) return;
    this.waits[row] = 0;
    this.count--;
  }

  /** Takes the first ones, so many at most. */
  take(most: number): number[] {
    const taken: number[] = [];
    for (; taken.length < most && this.next < this.end; this.next++) {
      const row = this.rows[this.next]!;
      if (this.waits[row] === 0) continue;
      this.waits[row] = 0;
      taken.push(row);
    }
    this.count -= taken.length;
    if (this.next * 2 >= this.end) {
      this.rows.copyWithin(0, this.next, this.end);
      this.end -= this.next;
      this.next = 0;
    }
    return taken;
  }
}
