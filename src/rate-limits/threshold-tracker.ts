/** About 100 bytes each. */
const MAX_TRACKED = 100_000;

/** Remembers which quota thresholds were already reported per window, so that each event is emitted once. */
export class ThresholdTracker {
  /** The latest window of each name, and the highest percentage reported in it. */
  private readonly reported = new Map<string, { window: number; percent: number }>();

  /**
   * @param name identifies the client and the kind of window
   * @param window number of the window
   * @returns the percentage reported before in this window, 0 if none
   */
  markReported(name: string, window: number, percent: number): number {
    const before = this.reported.get(name);
    const known = before?.window === window ? before.percent : 0;
    if (percent <= known) return known;
    if (this.reported.size >= MAX_TRACKED) this.reported.clear();
    this.reported.set(name, { window, percent });
    return known;
  }
}
