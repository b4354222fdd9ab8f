import type { Runtime } from '../../clients/typescript/src/runtime.js';
import type { FakeClock } from '../support/clock.js';

const QUIET_TICKS = 5;

/**
 * Time shared by a service and its clients in one process. While no request is in flight, it skips to the next timer,
 * so that a test does not wait for the minutes that it simulates.
 */
export class VirtualTime implements Runtime {
  private readonly timers = new Set<{ at: number; callback: () => void }>();
  private inFlight = 0;

  constructor(private readonly clock: FakeClock) {}

  now(): number {
    return this.clock.now();
  }

  random(): number {
    return Math.random();
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.now() + ms, callback };
    this.timers.add(timer);
    return () => this.timers.delete(timer);
  }

  /** Counts the requests in flight. */
  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    this.inFlight++;
    try {
      const response = await globalThis.fetch(url, init);
      return new Response(await response.text(), response);
    } finally {
      this.inFlight--;
    }
  };

  /** Advances the time until the work is done. */
  async runUntil<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const finish = (): void => void (isDone = true);
    work.then(finish, finish);
    for (let quiet = 0; !isDone; quiet = this.inFlight === 0 ? quiet + 1 : 0) {
      await new Promise((resume) => setImmediate(resume));
      if (quiet < QUIET_TICKS) continue;
      quiet = 0;
      this.skipToNextTimer();
    }
    return work;
  }

  private skipToNextTimer(): void {
    const [next] = [...this.timers].sort((one, other) => one.at - other.at);
    if (next === undefined) return;
    this.timers.delete(next);
    this.clock.advance(Math.ceil(Math.max(0, next.at - this.now())));
    next.callback();
  }
}
