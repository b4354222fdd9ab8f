/**
 * Gathers what comes up in one turn of the event loop, and hands it on together at the turn's end: one
 * transaction, one packet, one wake-up costs little more for many than for one.
 */
export class Turn<Item> {
  private items: Item[] = [];

  /**
   * @param conclude given all items of the turn, in their order, never none
   * @param most of them in one turn; what is beyond waits for the next, ahead of what comes up until then
   */
  constructor(
    private readonly conclude: (items: Item[]) => void,
    public most = Infinity,
  ) {}

  add(item: Item): void {
    this.items.push(item);
    if (this.items.length === 1) setImmediate(this.end);
  }

  private readonly end = (): void => {
    const { items } = this;
    this.items = items.length > this.most ? items.splice(this.most) : [];
    if (this.items.length > 0) setImmediate(this.end);
    this.conclude(items);
  };
}

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
