/** Reproducible pseudo-random numbers (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  /** The result of one of the functions, each with the same probability. */
  oneOf<Result>(...makers: readonly (() => Result)[]): Result {
    return this.pick(makers)();
  }

  times<Result>(count: number, make: (index: number) => Result): Result[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }

  bytes(length: number): Buffer {
    return Buffer.from(this.times(length, () => this.below(256)));
  }
}
