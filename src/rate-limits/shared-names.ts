import { Injectable } from '@nestjs/common';
import { grown, NameNumbers } from './names.js';

const FIRST_COLLECTION = 4_096;

/** Keeps something under the numbers of names. */
export interface NameHolder {
  /**
   * Sets 1 for each number under which it keeps something. It is asked between two turns of the event loop: what is
   * kept across them has to be told.
   */
  markHeld(marks: Uint8Array): void;
}

/**
 * Names under which several keep something, each in arrays of its own, by the name's number: of a million clients the
 * names lie here once, and not with each of them. A number under which nobody keeps anything is given to another name.
 */
@Injectable()
export class SharedNames {
  private readonly numbers = new NameNumbers();
  /** Weakly, for who is gone keeps nothing. */
  private readonly holders = new Set<WeakRef<NameHolder>>();
  private collectAt = FIRST_COLLECTION;
  private isCollecting = false;

  addHolder(holder: NameHolder): void {
    this.holders.add(new WeakRef(holder));
  }

  find(name: string): number | undefined {
    return this.numbers.find(name);
  }

  /** The name's number, which is the name's until this turn of the event loop is over, and as long as it is held. */
  add(name: string): number {
    const number = this.numbers.add(name);
    if (this.numbers.size >= this.collectAt && !this.isCollecting) {
      this.isCollecting = true;
      setImmediate(() => this.collect());
    }
    return number;
  }

  /** Empty where the number is no name's any more. */
  nameOf(number: number): string {
    return this.numbers.nameOf(number);
  }

  /** How many names have a number, whether it is held or not. */
  get size(): number {
    return this.numbers.size;
  }

  /** Frees what nobody holds. As often as the names have doubled: so each has cost a bounded time. */
  private collect(): void {
    const { numbers, holders } = this;
    const marks = new Uint8Array(numbers.length);
    for (const reference of holders) {
      const holder = reference.deref();
      if (holder === undefined) holders.delete(reference);
      else holder.markHeld(marks);
    }
    for (let number = 0; number < marks.length; number++) {
      if (marks[number] === 0 && numbers.isInUse(number)) numbers.remove(number);
    }
    this.collectAt = Math.max(FIRST_COLLECTION, numbers.size * 2);
    this.isCollecting = false;
  }
}

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
