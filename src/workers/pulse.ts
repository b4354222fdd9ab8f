const BEAT_MS = 1_000;
/** In vain, one after the other, before a process is given up. */
const BEATS = 5;
/** A beat that comes so late was held up in this process: it says nothing of the others. */
const LATE_MS = 1.5 * BEAT_MS;

/**
 * Notices a process that lives and does nothing: an event loop that never ends a turn. Only time in which
 * this process ran counts, so that nobody is given up for a machine that stood still.
 */
export class Pulse<Process> {
  private readonly silent = new Map<Process, number>();
  private readonly timer = setInterval(() => this.beat(), BEAT_MS).unref();
  private lastBeatMs = performance.now();

  /**
   * @param ask to be answered by a call of `heard`
   * @param giveUp told of a process once
   */
  constructor(
    private readonly ask: (process: Process) => void,
    private readonly giveUp: (process: Process) => void,
  ) {}

  watch(process: Process): void {
    this.silent.set(process, 0);
  }

  /** Whatever it was that it said. */
  heard(process: Process): void {
    if (this.silent.get(process)) this.silent.set(process, 0);
  }

  forget(process: Process): void {
    this.silent.delete(process);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  private beat(): void {
    const nowMs = performance.now();
    const isLate = nowMs - this.lastBeatMs > LATE_MS;
    this.lastBeatMs = nowMs;
    for (const [process, beats] of this.silent) {
      if (beats >= BEATS && !isLate) {
        this.forget(process);
        this.giveUp(process);
        continue;
      }
      if (!isLate) this.silent.set(process, beats + 1);
      this.ask(process);
    }
  }
}
