/** The one source of time, so that tests can move it. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  /** Milliseconds since some moment, whatever the time of day is set to; by default those of the process. */
  elapsed?(): number;
}

export class SystemClock extends Clock {
  now(): number {
    return Date.now();
  }
}

/** What the machine's two clocks may differ by from reading to reading. */
const TOLERATED_MS = 50;

/**
 * The time of day for whoever was told how long to wait: where the machine's clock is set back, it goes on as if that
 * had not been, so that nobody waits longer than was said. How far it is ahead since then it tells, for whatever is
 * to be told by the machine's clock.
 */
export class SteadyClock extends Clock {
  private ahead = 0;
  private lastMs: number;
  private lastElapsedMs: number;

  constructor(private readonly clock: Clock) {
    super();
    this.lastMs = clock.now();
    this.lastElapsedMs = this.elapsed();
  }

  now(): number {
    const elapsedMs = this.elapsed();
    const wallMs = this.clock.now();
    const stepMs = wallMs + this.ahead - (this.lastMs + elapsedMs - this.lastElapsedMs);
    // Forward it is followed, but for what it was ahead already.
    if (stepMs < -TOLERATED_MS || (stepMs > TOLERATED_MS && this.ahead > 0)) {
      this.ahead = Math.max(0, Math.round(this.ahead - stepMs));
    }
    this.lastMs = Math.max(this.lastMs, wallMs + this.ahead);
    this.lastElapsedMs = elapsedMs;
    return this.lastMs;
  }

  override elapsed(): number {
    return this.clock.elapsed?.() ?? performance.now();
  }

  /** How much later it is by this clock than by that of the machine: milliseconds. */
  get aheadMs(): number {
    return this.ahead;
  }
}

/**
 * Time that has passed, that of a process or a machine that stood still included: what a monotonic clock
 * tells does not go on while a machine is suspended, and what the wall's tells may be set back. Of the
 * two it is the longer.
 */
export class Stopwatch {
  private readonly startedMonotonicMs = performance.now();
  private readonly startedMs: number;

  constructor(private readonly clock: Clock) {
    this.startedMs = clock.now();
  }

  get elapsedMs(): number {
    return Math.max(performance.now() - this.startedMonotonicMs, this.clock.now() - this.startedMs);
  }
}

/** Something that was seen, and counts for a while. */
export class Sighting {
  /** From when it counts; undefined before. */
  protected current: Stopwatch | undefined;

  constructor(private readonly countsForMs: number) {}

  /** Whether what was seen still counts. */
  get isCurrent(): boolean {
    return this.current !== undefined && this.current.elapsedMs < this.countsForMs;
  }
}

/**
 * The two fixed windows, in UTC: the minute starts at :00 seconds, the day at 00:00. Unix time has
 * neither leap seconds nor time zones, so a window is a whole number of milliseconds since the epoch,
 * and is named by its number.
 */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS);
}

export function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** The oldest day of which counts are kept: nothing of it counts any more, unless it is the clock that is ahead. */
export function dayBefore(nowMs: number): number {
  return dayOf(nowMs) - 1;
}

/** When a minute ends: Unix seconds. */
export function minuteEndUnix(minute: number): number {
  return ((minute + 1) * MINUTE_MS) / 1000;
}

/** When a day ends: Unix seconds. */
export function dayEndUnix(day: number): number {
  return ((day + 1) * DAY_MS) / 1000;
}

/** Whole seconds from `nowMs` until a Unix time, at least 1: who waits that long is not too early. */
export function secondsUntil(unixSeconds: number, nowMs: number): number {
  return Math.max(1, Math.ceil(unixSeconds - nowMs / 1000));
}

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
const MOST_PER_TURN = 64;
/** To halve fewer gains nothing. */
const LEAST_PER_TURN = 4;

/** In a row. To accept somebody takes as long as a request or two, and requests are to have their share. */
const MOST_ACCEPTING_TURNS = 16;

/** Told how long it had to wait, where more are there than a turn can begin: to wait for the other half is no sign of that. */
type Begin = (waitedMs: number) => void;

interface Waiting {
  begin: Begin;
  sinceMs: number;
}

/** From so many on connections rest. What fewer make is collected while it is young, and to rest costs something too. */
const LONG_LINE = 5 * MOST_PER_TURN;
/** Then so many are in line: the next turn, and the one behind it, are to have their work. */
const MOST_READ = 2 * MOST_PER_TURN;
/** In a turn, however many come from elsewhere. */
const LEAST_ROUSED = MOST_PER_TURN / 2;

/** What requests come from, one behind the other: a socket. */
export interface Connection {
  readonly destroyed: boolean;
  /** Has nothing of it read. */
  pause(): unknown;
  resume(): unknown;
}

interface Resting {
  connection: Connection;
  sinceMs: number;
}

/**
 * Where requests wait for a turn of the event loop: of those that come together some begin, and the others
 * follow in their order. Timers and answers have their share of the time between, however many come.
 *
 * It is half of those that were here in the turn before, within bounds: while the callers of one half take their
 * answers and ask again, the other half is worked on. Were all answered at once, all would ask at once, and this
 * process and its callers would sleep in turn.
 */
export class WaitingLine {
  private waiting: Waiting[] = [];
  private begun = 0;
  /** How many may begin in this turn. */
  private most = MOST_PER_TURN;
  private longestMs = 0;
  private isHeld = false;
  private hasAccepted = false;
  private acceptingTurns = 0;
  private resting: Resting[] = [];
  private isEnding = false;
  private readsAll = false;

  /** Has it begin, now where that is possible. */
  join(begin: Begin): void {
    if (this.isHeld || this.begun >= this.most || this.waiting.length > 0) {
      this.waiting.push({ begin, sinceMs: performance.now() });
      return;
    }
    if (this.begun === 0) setImmediate(this.endTurn);
    this.begun++;
    begin(0);
  }

  /**
   * Somebody was accepted. libuv accepts one in a turn of the event loop: were each turn as long as it takes to begin
   * as many as may, a thousand who connect at once would wait for seconds, and whoever asks for health behind them.
   * As long as turns bring somebody, most of them begin nothing.
   */
  accepted(): void {
    this.hasAccepted = true;
  }

  /**
   * A connection whose requests are answered is not read while the line is long, and then in its order. What is made
   * of a request that waits outlives the young generation of the heap; the kernel keeps its bytes for next to nothing.
   */
  rest(connection: Connection): void {
    const { waiting, resting } = this;
    const isLong = waiting.length + resting.length >= LONG_LINE;
    if (!isLong || waiting.length < MOST_PER_TURN || this.readsAll || this.isEnding) return;
    connection.pause();
    resting.push({ connection, sinceMs: performance.now() });
  }

  /** Whether nobody may rest: where it has to be known of each request when it came. */
  readAll(all: boolean): void {
    this.readsAll = all;
    if (all) this.rouse(this.resting.length);
  }

  /** Has all wait until `release`, in line: the service ends, and from then on reads what has been sent. */
  hold(): void {
    this.isHeld = true;
    this.isEnding = true;
  }

  release(): void {
    this.isHeld = false;
    // Else the turn that is under way ends by itself.
    if (this.begun === 0) this.endTurn();
  }

  /** How long whoever waited longest had to, of those that began since this was last asked. */
  takeLongestMs(): number {
    const longestMs = this.longestMs;
    this.longestMs = 0;
    return longestMs;
  }

  private readonly endTurn = (): void => {
    if (this.isForAccepting()) {
      setImmediate(this.endTurn);
      return;
    }
    const half = Math.ceil((this.begun + this.waiting.length) / 2);
    this.most = Math.min(Math.max(half, LEAST_PER_TURN), MOST_PER_TURN);
    const next = this.isHeld ? [] : this.waiting.splice(0, this.most);
    this.begun = next.length;
    const room = Math.max(MOST_READ - this.waiting.length, LEAST_ROUSED);
    this.rouse(next.length === 0 ? this.resting.length : room);
    if (next.length === 0) return;
    setImmediate(this.endTurn);
    const nowMs = performance.now();
    this.longestMs = Math.max(this.longestMs, nowMs - next[0]!.sinceMs);
    const isFull = next.length === MOST_PER_TURN;
    for (const { begin, sinceMs } of next) begin(isFull ? nowMs - sinceMs : 0);
  };

  /** Those that have rested for longest. Whoever had sent its request before has waited for as long. */
  private rouse(count: number): void {
    if (this.resting.length === 0) return;
    const roused = this.resting.splice(0, count);
    this.longestMs = Math.max(this.longestMs, performance.now() - roused[0]!.sinceMs);
    for (const { connection } of roused) if (!connection.destroyed) connection.resume();
  }

  private isForAccepting(): boolean {
    const { hasAccepted, isHeld, begun, waiting } = this;
    this.hasAccepted = false;
    const isLate = begun > 0 && waiting.length > 0 && !isHeld;
    if (hasAccepted && isLate && this.acceptingTurns < MOST_ACCEPTING_TURNS) {
      this.acceptingTurns++;
      return true;
    }
    this.acceptingTurns = 0;
    return false;
  }
}
