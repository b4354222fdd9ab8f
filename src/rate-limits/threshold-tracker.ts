import { LRUCache } from 'lru-cache';

/** Remembers which quota thresholds were already reported per window, so that each event is emitted once. */
export class ThresholdTracker {
  private readonly reported = new LRUCache<string, { window: number; percent: number }>({
    max: 100_000,
  });

  /**
   * @param name identifies the client and the kind of window
   * @param window number of the window
   * @returns the percentage reported before in this window, 0 if none
   */
  markReported(name: string, window: number, percent: number): number {
    const before = this.reported.get(name);
    const known = before?.window === window ? before.percent : 0;
    if (percent > known) this.reported.set(name, { window, percent });
    return known;
  }
}
