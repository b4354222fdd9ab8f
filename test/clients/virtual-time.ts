import type { Runtime } from '../../clients/typescript/src/runtime.js';
import type { FakeClock } from '../support/clock.js';

const QUIET_TURNS = 5;

/**
 * Time for a service and its clients in one process. It passes only while no request is under way: then
 * it leaps to what is waited for next, so that minutes take no longer than the work that is done in them.
 */
export class VirtualTime implements Runtime {
  private readonly timers = new Set<{ at: number; callback: () => void }>();
  private inFlight = 0;

  /** @param answersTakeMs how long each answer is on its way */
  constructor(
    private readonly clock: FakeClock,
    private readonly answersTakeMs = 0,
  ) {}

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

  /** What clients send with, so that it is known when all is quiet. */
  readonly fetch: typeof globalThis.fetch = async (url, init) => {
    const answer = await this.carryOut(url, init);
    if (this.answersTakeMs > 0) {
      await new Promise<void>((arrive) => this.after(this.answersTakeMs, arrive));
    }
    return answer;
  };

  private async carryOut(...[url, init]: Parameters<typeof globalThis.fetch>): Promise<Response> {
    this.inFlight++;
    try {
      const response = await globalThis.fetch(url, init);
      const text = await response.text();
      return new Response(text, response);
    } finally {
      this.inFlight--;
    }
  }

  /** Lets time pass until the work is done. */
  async passUntil<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const finish = (): void => void (isDone = true);
    work.then(finish, finish);
    for (let quiet = 0; !isDone; quiet = this.inFlight === 0 ? quiet + 1 : 0) {
      await new Promise((resume) => setImmediate(resume));
      if (quiet < QUIET_TURNS) continue;
      quiet = 0;
      this.leap();
    }
    return work;
  }

  private leap(): void {
    const [next] = [...this.timers].sort((one, other) => one.at - other.at);
    if (next === undefined) return;
    this.timers.delete(next);
    this.clock.advance(Math.ceil(Math.max(0, next.at - this.now())));
    next.callback();
  }
}
