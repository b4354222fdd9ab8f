/** A pause, however long it was, is over by then: a stopped process, a busy neighbour. */
const PATIENCE_MS = 1_000;
/** Once it sheds, so late the loop may be: whoever is refused should be told soon. */
const TARGET_SHARE_OF_LIMIT = 0.1;
const MOST_TARGET_MS = 20;
const LEAST_TARGET_MS = 5;

/** A loop that finds time to wait is late for reasons that no refusal would mend. */
const BUSY_UTILIZATION = 0.8;

const FIRST_SHARE = 0.5;
/** Some are always let in: they are what shows that the others could be. */
const MOST_SHARE = 0.98;
const STEP_UP = 0.06;
/** Of one sample in time: what was refused is let in again over two or three seconds. */
const STEP_DOWN = 0.02;

/**
 * Which share of the requests to refuse, by how late the event loop is. It begins once every sample of a
 * whole second was over the limit. From then on the share follows a much stricter target, up where the loop
 * is later, down where it is not, and so settles where what is let in is as much as can be done in time.
 */
export class Shedding {
  /** From 0, which is none, to nearly 1. */
  share = 0;
  private lateSinceMs: number | undefined;
  private readonly targetMs: number;

  /** @param limitMs later than that, all the time, is too late */
  constructor(private readonly limitMs: number) {
    const targetMs = Math.min(limitMs * TARGET_SHARE_OF_LIMIT, MOST_TARGET_MS);
    this.targetMs = Math.max(targetMs, LEAST_TARGET_MS);
  }

  /**
   * @param lateMs how much later than it should have this sample is taken
   * @param utilization of the time since the last one, the share in which the loop did not wait for events
   */
  take(lateMs: number, utilization: number, nowMs: number): void {
    const isBusy = utilization >= BUSY_UTILIZATION;
    if (this.share > 0) {
      this.adjust(isBusy && lateMs > this.targetMs);
    } else if (!isBusy || lateMs <= this.limitMs) {
      this.lateSinceMs = undefined;
    } else {
      // Not from when it should have been taken: that may have been one long pause.
      this.lateSinceMs ??= nowMs;
      if (nowMs - this.lateSinceMs >= PATIENCE_MS) this.share = FIRST_SHARE;
    }
  }

  private adjust(isTooMuch: boolean): void {
    if (isTooMuch) {
      this.share = Math.min(this.share + STEP_UP, MOST_SHARE);
      return;
    }
    this.share = Math.max(this.share - STEP_DOWN, 0);
    if (this.share === 0) this.lateSinceMs = undefined;
  }
}
