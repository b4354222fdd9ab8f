import type { Random } from '../../test/support/random.js';
import type { Scheduler } from './scheduler.js';

/** A connection whose server has refused it, as both drivers report it. */
const REFUSED = Object.assign(new Error('connection refused'), { code: '08006' });

type State = 'up' | 'refused' | 'silent';

/** The way from one node to one server, in which calls keep their order. */
export class Link {
  state: State = 'up';
  /** Since when calls arrive; undefined while they do not. */
  upSinceMs: number | undefined = 0;
  mostDelayMs = 3;
  /** Until when the server executes nothing. */
  pausedUntilMs = 0;
  private epoch = 0;
  private requestsUntilMs = 0;
  private repliesUntilMs = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly random: Random,
  ) {}

  /** A later break takes the place of an earlier one. */
  breakFor(ms: number, state: State): void {
    this.set(state);
    const { epoch } = this;
    this.scheduler.after(ms, () => epoch === this.epoch && this.set('up'));
  }

  /** Calls in progress are lost with the connection. */
  private set(state: State): void {
    this.state = state;
    this.epoch++;
    this.upSinceMs = state === 'up' ? this.scheduler.elapsedMs : undefined;
  }

  /** @param execute runs on the server; its result arrives later, or never */
  call<Result>(execute: () => Result, received?: (result: Result) => void): Promise<Result> {
    const { epoch } = this;
    if (this.state === 'refused') return Promise.reject(REFUSED);
    return new Promise((resolve, reject) => {
      const arrive = (): void => {
        const pauseMs = this.pausedUntilMs - this.scheduler.elapsedMs;
        if (pauseMs > 0) {
          this.scheduler.after(pauseMs, arrive);
          return;
        }
        if (epoch !== this.epoch) {
          if (this.state === 'refused') reject(REFUSED);
          return;
        }
        const result = execute();
        this.repliesUntilMs = this.later(this.repliesUntilMs);
        this.scheduler.after(this.repliesUntilMs - this.scheduler.elapsedMs, () => {
          // A reply that is lost may belong to a call that was executed.
          if (epoch !== this.epoch || this.state === 'silent') return;
          received?.(result);
          resolve(result);
        });
      };
      this.requestsUntilMs = this.later(this.requestsUntilMs);
      this.scheduler.after(this.requestsUntilMs - this.scheduler.elapsedMs, arrive);
    });
  }

  private later(previousMs: number): number {
    const arrivesMs = this.scheduler.elapsedMs + this.random.below(this.mostDelayMs + 1);
    // Half a millisecond apart, so that the order of tasks at one time does not matter.
    return Math.max(arrivesMs, previousMs + 0.001);
  }
}
