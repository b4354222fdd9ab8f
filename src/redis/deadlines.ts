import { batchPerTick } from '../time/batch-per-tick.js';

interface Wait {
  untilMs: number;
  readonly giveUp: () => void;
  isOver: boolean;
}

/**
 * Bounds many short waits by one timer: a timer for each costs more than what it watches.
 */
export class Deadlines {
  private waits: Wait[] = [];
  /** Commands leave at the end of their turn. */
  private readonly turn = batchPerTick<Wait>((waits) => this.begin(waits));
  private timer: NodeJS.Timeout | undefined;

  /** @param onExpiry told of every wait that was given up */
  constructor(
    private readonly boundMs: number,
    private readonly onExpiry: () => void,
  ) {}

  /** The reply, or an error where there is none in time. What comes after that is dropped. */
  bound<Reply>(reply: Promise<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        reject(new Error(`Redis did not answer within ${this.boundMs} ms`));
        this.onExpiry();
      };
      const wait: Wait = { untilMs: Infinity, giveUp, isOver: false };
      this.turn(wait);
      reply.then(
        (value) => {
          wait.isOver = true;
          resolve(value);
        },
        (error: Error) => {
          wait.isOver = true;
          reject(error);
        },
      );
    });
  }

  /** What was not sent yet cannot be late. */
  private begin(waits: readonly Wait[]): void {
    const untilMs = performance.now() + this.boundMs;
    for (const wait of waits) {
      wait.untilMs = untilMs;
      this.waits.push(wait);
    }
    // What is waited for holds the process; the bound alone does not.
    this.timer ??= setTimeout(this.look, this.boundMs).unref();
  }

  /**
   * A process that was busy itself finds the timer and the reply waiting at once: the reply goes first. What is read in
   * between may take long as well: whose time comes meanwhile has not been looked for since, and is left to the next look.
   */
  private readonly look = (): void => {
    const nowMs = performance.now();
    setImmediate(() => {
      const waits = this.waits.filter(({ isOver }) => !isOver);
      const first = waits.findIndex(({ untilMs }) => untilMs > nowMs);
      this.waits = first === -1 ? [] : waits.slice(first);
      const [next] = this.waits;
      this.timer = next && setTimeout(this.look, next.untilMs - nowMs).unref();
      for (const { giveUp } of first === -1 ? waits : waits.slice(0, first)) giveUp();
    });
  };
}
