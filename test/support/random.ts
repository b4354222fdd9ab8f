/** Reproducible pseudo-random numbers (mulberry32). */
export class Random {
  constructor(private state: number) {}

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * end);
  }

  chance(probability: number): boolean {
    return this.below(1_000) < probability * 1_000;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!;
  }

  times<Result>(count: number, make: (index: number) => Result): Result[] {
    return Array.from({ length: count }, (_, index) => make(index));
  }
}
