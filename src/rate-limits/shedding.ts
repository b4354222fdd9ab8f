/** A pause, however long it was, is over by then: a stopped process, a busy neighbour. */
const PATIENCE_MS = 1_000;
/** Whoever was refused comes back within three seconds; when nobody had to be refused for so long, it is over. */
const CALM_MS = 3_000;
/** Whoever has waited so long is refused: they should be told soon, and whoever comes next is not to wait as long. */
const WAIT_SHARE_OF_LIMIT = 0.04;
/** Of a turn of the event loop, what is let in may take so long, by what one has cost of late. */
const TURN_SHARE_OF_LIMIT = 0.2;

/** A loop that finds time to wait is late for reasons that no refusal would mend. */
const BUSY_UTILIZATION = 0.8;
/** One that waits for most of the time has room for whatever comes. */
const IDLE_UTILIZATION = 0.5;
/** So long there was nothing to relieve the loop of, and whatever comes is let in. */
const RECOVERY_MS = 2_000;
/** Until then, by so much more with each sample. */
const RECOVERY_PER_SAMPLE = 1.3;
/** What a refusal costs, roughly, all of it: a page of 100 costs half as much again. */
const REFUSAL_MS = 0.08;
/** One in so many. */
const FEW_REFUSED = 4;
/** Refusals that bring no relief are not to take the place of the work: of the time, so much is enough for them. */
const REFUSING_SHARE = 0.2;
/** What was not needed of that is kept for so long. */
const REFUSING_KEPT_MS = 100;
/** How fast the cost of a request is believed to have changed. */
const WEIGHT_OF_SAMPLE = 0.2;
/** Some are always let in: they are what shows that the others could be. */
const LEAST_BUDGET = 0.02;

/**
 * Which requests to refuse, by how late the event loop is. It begins once every sample of a whole second was
 * over the limit. From then on whoever has waited for longer than a short time is refused, and so is, in a turn
 * of the loop, who comes when as many are let in as can be done in it. That needs no share to settle: who comes
 * back after seconds, or at once, or not at all, finds what room there is when it comes. Where so many come back
 * at once that refusing them would take the time of the work, more are let in, and all wait longer.
 * A loop that is idle again, or calm for seconds, refuses nobody, however few come to show that.
 */
export class Shedding {
  isOn = false;
  /** What fits into a turn, by what one has cost. */
  private fitting = 1;
  /** How many times as many are let in, since it is calm. */
  private recovery = 1;
  private calmSinceMs: number | undefined;
  private left = 1;
  private costMs = 0;
  /** Requests that were let in since the last sample. */
  admitted = 0;
  private refused = 0;
  /** Time that may yet be spent on refusals. */
  private refusingMs = 0;
  private turnedAtMs = 0;
  private lateSinceMs: number | undefined;
  private sampledAtMs: number | undefined;
  private refusedAtMs = 0;
  private readonly turnMs: number;
  private readonly waitMs: number;

  /** @param limitMs later than that, all the time, is too late */
  constructor(private readonly limitMs: number) {
    this.turnMs = limitMs * TURN_SHARE_OF_LIMIT;
    this.waitMs = limitMs * WAIT_SHARE_OF_LIMIT;
  }

  /** Whether to refuse the request at hand, which has waited for so long. */
  refuses(waitedMs: number): boolean {
    const isCalm = this.recovery === Infinity;
    const isTooMuch = this.left < 1 || (waitedMs > this.waitMs && !isCalm);
    if (this.isOn && isTooMuch && this.refusingMs >= REFUSAL_MS) {
      this.refusingMs -= REFUSAL_MS;
      this.refused++;
      return true;
    }
    this.left--;
    this.admitted++;
    return false;
  }

  /** How many to let in in each turn. */
  private get budget(): number {
    return this.fitting * this.recovery;
  }

  /** The next turn of the event loop begins. What was left is none the more, but for a fraction of one. */
  turn(nowMs: number): void {
    this.refusingMs += REFUSING_SHARE * (nowMs - this.turnedAtMs);
    this.refusingMs = Math.min(this.refusingMs, REFUSING_SHARE * REFUSING_KEPT_MS);
    this.turnedAtMs = nowMs;
    this.left = Math.min(Math.max(this.left, 0) + this.budget, Math.max(this.budget, 1));
  }

  /**
   * @param lateMs how much later than it should have this sample is taken
   * @param utilization of the time since the last one, the share in which the loop did not wait for events
   */
  take(lateMs: number, utilization: number, nowMs: number): void {
    const isBusy = utilization >= BUSY_UTILIZATION;
    const isPressed = isBusy && (lateMs > this.limitMs || this.refused > 0);
    if (isPressed && this.refused > 0) this.refusedAtMs = nowMs;
    this.estimate(utilization * (nowMs - (this.sampledAtMs ?? nowMs)), isBusy);
    this.sampledAtMs = nowMs;
    if (this.isOn) {
      this.recover(isPressed, utilization, nowMs);
      if (nowMs - this.refusedAtMs >= CALM_MS) this.end();
    } else if (!isBusy || lateMs <= this.limitMs) {
      this.lateSinceMs = undefined;
    } else {
      // Not from when it should have been taken: that may have been one long pause.
      this.lateSinceMs ??= nowMs;
      if (nowMs - this.lateSinceMs >= PATIENCE_MS) this.begin(nowMs);
    }
  }

  /** Of the time that the loop was busy. Where most of that went into refusing, it tells nothing of the rest. */
  private estimate(busyMs: number, isBusy: boolean): void {
    const { admitted, refused } = this;
    this.admitted = this.refused = 0;
    if (admitted + refused === 0 || (isBusy && refused * FEW_REFUSED > admitted)) return;
    const costMs = Math.max(busyMs - refused * REFUSAL_MS, REFUSAL_MS) / Math.max(admitted, 1);
    const weight = this.costMs === 0 ? 1 : WEIGHT_OF_SAMPLE;
    this.costMs += weight * (costMs - this.costMs);
    this.fitting = Math.max(this.turnMs / this.costMs, LEAST_BUDGET);
  }

  /** By time: requests that hardly ever come would show too late that there is room for them. */
  private recover(isPressed: boolean, utilization: number, nowMs: number): void {
    if (isPressed) {
      this.calmSinceMs = undefined;
      this.recovery = 1;
      this.left = Math.min(this.left, Math.max(this.budget, 1));
      return;
    }
    this.calmSinceMs ??= nowMs;
    const isOver = utilization < IDLE_UTILIZATION || nowMs - this.calmSinceMs >= RECOVERY_MS;
    this.recovery = isOver ? Infinity : this.recovery * RECOVERY_PER_SAMPLE;
    this.left = Math.max(this.left, this.budget);
  }

  private begin(nowMs: number): void {
    this.isOn = true;
    this.refusedAtMs = nowMs;
    this.calmSinceMs = undefined;
    this.recovery = 1;
    this.left = this.budget;
  }

  private end(): void {
    this.isOn = false;
    this.lateSinceMs = undefined;
  }
}
