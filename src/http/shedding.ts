/** A pause, however long it was, is over by then: a stopped process, a busy neighbour. */
const PATIENCE_MS = 1_000;
/** Whoever was refused comes back within three seconds; when nobody had to be refused for so long, it is over. */
const CALM_MS = 3_000;
/** Of a turn of the event loop, what is let in may take so long: whoever is refused should be told soon. */
const TURN_SHARE_OF_LIMIT = 0.08;
const LEAST_TURN_MS = 5;

/** A loop that finds time to wait is late for reasons that no refusal would mend. */
const BUSY_UTILIZATION = 0.8;
/** One that waits for most of the time has room for whatever comes. */
const IDLE_UTILIZATION = 0.5;
/** So long there was nothing to relieve the loop of, and whatever comes is let in. */
const RECOVERY_MS = 2_000;
/** Until then, by so much more with each sample. */
const RECOVERY_PER_SAMPLE = 1.3;
/** What a refusal costs, roughly; a page of 100 costs three times as much. */
const REFUSAL_MS = 0.03;
/** One in so many. */
const FEW_REFUSED = 4;
/** Refusals that bring no relief are not to take the place of the work: a fifth of the time is enough for them. */
const WORK_PER_REFUSING = 4;
/** How fast the cost of a request is believed to have changed. */
const WEIGHT_OF_SAMPLE = 0.2;
/** Some are always let in: they are what shows that the others could be. */
const LEAST_BUDGET = 0.02;

/**
 * Which requests to refuse, by how late the event loop is. It begins once every sample of a whole second was
 * over the limit. From then on each turn of the loop lets in as many as can be done in a short time, by what
 * one has cost of late, and refuses the others at once. That needs no share to settle: who comes back after
 * seconds, or at once, or not at all, finds what room there is in the turn that it comes in. Where so many come
 * back at once that refusing them would take the time of the work, more are let in, and all wait longer.
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
  private admitted = 0;
  private refused = 0;
  private admittedInTurn = 0;
  private refusedInTurn = 0;
  private lateSinceMs: number | undefined;
  private sampledAtMs: number | undefined;
  private refusedAtMs = 0;
  private readonly turnMs: number;

  /** @param limitMs later than that, all the time, is too late */
  constructor(private readonly limitMs: number) {
    this.turnMs = Math.max(limitMs * TURN_SHARE_OF_LIMIT, LEAST_TURN_MS);
  }

  /** Whether to refuse the request at hand. */
  refuses(): boolean {
    if (this.isOn && this.left < 1 && this.mayRefuse()) {
      this.refused++;
      this.refusedInTurn++;
      return true;
    }
    this.left--;
    this.admitted++;
    this.admittedInTurn++;
    return false;
  }

  private mayRefuse(): boolean {
    const workMs = Math.max(this.turnMs, this.admittedInTurn * this.costMs);
    return this.refusedInTurn * REFUSAL_MS * WORK_PER_REFUSING < workMs;
  }

  /** How many to let in in each turn. */
  private get budget(): number {
    return this.fitting * this.recovery;
  }

  /** The next turn of the event loop begins. What was left is none the more, but for a fraction of one. */
  turn(): void {
    this.refusedInTurn = this.admittedInTurn = 0;
    this.left = Math.min(Math.max(this.left, 0) + this.budget, Math.max(this.budget, 1));
  }

  /**
   * @param lateMs how much later than it should have this sample is taken
   * @param utilization of the time since the last one, the share in which the loop did not wait for events
   */
  take(lateMs: number, utilization: number, nowMs: number): void {
    const isBusy = utilization >= BUSY_UTILIZATION;
    const isPressed = isBusy && (lateMs > this.limitMs || this.refused > 0);
    if (this.refused > 0) this.refusedAtMs = nowMs;
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
