/** Some 100 bytes each. */
const MAX_REMEMBERED = 100_000;

/** Which share of a window was told of, so that each is told of once. */
export class ToldShares {
  /** By name: the latest window, and how much of it was told of. */
  private readonly told = new Map<string, { at: number; percent: number }>();

  /**
   * @param name of the window and whose it is
   * @param at which of these windows
   * @returns what was told of before, in percent: 0 where nothing was
   */
  raise(name: string, at: number, percent: number): number {
    const before = this.told.get(name);
    const known = before?.at === at ? before.percent : 0;
    if (percent <= known) return known;
    if (this.told.size >= MAX_REMEMBERED) this.told.clear();
    this.told.set(name, { at, percent });
    return known;
  }
}
