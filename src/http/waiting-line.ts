/** In one turn of the event loop. What more of them make would outlive the turn, and with it the young generation. */
const BEGUN_PER_TURN = 64;

/** Told how long it had to wait. */
type Begin = (waitedMs: number) => void;

interface Waiting {
  begin: Begin;
  sinceMs: number;
}

/**
 * Where requests wait for a turn of the event loop: of those that come together so many begin, and the others
 * follow in their order. Timers and answers have their share of the time between, however many come.
 */
export class WaitingLine {
  private waiting: Waiting[] = [];
  private begun = 0;
  private longestMs = 0;

  /** Has it begin, now where that is possible. */
  join(begin: Begin): void {
    if (this.begun === 0) setImmediate(this.endTurn);
    if (this.begun < BEGUN_PER_TURN) {
      this.begun++;
      begin(0);
    } else {
      this.waiting.push({ begin, sinceMs: performance.now() });
    }
  }

  /** How long whoever waited longest had to, of those that began since this was last asked. */
  takeLongestMs(): number {
    const longestMs = this.longestMs;
    this.longestMs = 0;
    return longestMs;
  }

  private readonly endTurn = (): void => {
    const next = this.waiting.splice(0, BEGUN_PER_TURN);
    this.begun = next.length;
    if (next.length === 0) return;
    setImmediate(this.endTurn);
    const nowMs = performance.now();
    this.longestMs = Math.max(this.longestMs, nowMs - next[0]!.sinceMs);
    for (const { begin, sinceMs } of next) begin(nowMs - sinceMs);
  };
}
