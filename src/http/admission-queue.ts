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
export class AdmissionQueue {
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
