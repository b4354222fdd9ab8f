import type { Random } from '../../test/support/random.js';

/** A refused connection, as both drivers report it. */
const REFUSED = Object.assign(new Error('connection refused'), { code: '08006' });

/** The way from one node to one server, in which calls keep their order. */
export class Link<Server extends { readonly pausedUntilMs: number }> {
  mostDelayMs = 3;
  /** A break, or the time between two of them. Calls in progress are lost when it ends. */
  period: { state: 'up' | 'refused' | 'silent'; sinceMs: number } = { state: 'up', sinceMs: 0 };
  private readonly arrivesMs = { request: 0, reply: 0 };

  constructor(
    private readonly server: Server,
    private readonly random: Random,
  ) {}

  /** A later break takes the place of an earlier one. */
  breakFor(ms: number, state: 'refused' | 'silent'): void {
    const broken = { state, sinceMs: Date.now() };
    this.period = broken;
    setTimeout(() => {
      if (this.period === broken) this.period = { state: 'up', sinceMs: Date.now() };
    }, ms);
  }

  /** @param execute runs on the server; its result arrives later, or never */
  async call<Result>(execute: (server: Server) => Result): Promise<Result> {
    const { period } = this;
    if (period.state === 'refused') throw REFUSED;
    await this.transfer('request');
    if (period !== this.period) return this.lose();
    const result = execute(this.server);
    await this.transfer('reply');
    // A reply that is lost may belong to a call that was executed.
    return period === this.period && period.state === 'up' ? result : this.lose();
  }

  private transfer(way: 'request' | 'reply'): Promise<void> {
    const nowMs = Date.now();
    const arrivesMs = nowMs + this.random.below(this.mostDelayMs + 1);
    this.arrivesMs[way] = Math.max(arrivesMs, this.arrivesMs[way], this.server.pausedUntilMs);
    return delay(this.arrivesMs[way] - nowMs);
  }

  private lose(): Promise<never> {
    return this.period.state === 'refused' ? Promise.reject(REFUSED) : new Promise(() => undefined);
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
