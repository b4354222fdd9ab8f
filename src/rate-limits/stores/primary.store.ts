import { serviceUnavailable } from '../../errors/errors.js';
import { Turn } from '../../time/clock.js';
import { NoAnswer, within } from '../../time/within.js';
import type { FurtherLimit } from '../further-limit.js';
import type { Limits } from '../limits.js';
import { type Answer, type Ask, type CounterChannel, toDecision } from './counter-channel.js';
import { type Decision, RateLimitStore } from './rate-limit-store.js';

/** As long as for a statement. A primary process that stands still for longer is away: to callers, a 503. */
const PATIENCE_MS = 3_000;

interface Waiting {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: Error) => void;
}

/**
 * Counters in the primary process, which all workers of one machine share. What is asked within one turn
 * of the event loop travels in one message: a message costs some twenty times what counting does.
 */
export class PrimaryStore extends RateLimitStore {
  readonly mode = 'memory';
  private readonly turn = new Turn<Waiting>((waiting) => void this.send(waiting));

  constructor(private readonly channel: CounterChannel) {
    super();
  }

  take(subject: string, { perMinute, perDay }: Limits, further?: FurtherLimit): Promise<Decision> {
    const plan = ['take', subject, perMinute, perDay] as const;
    return this.ask(further === undefined ? plan : [...plan, further]).then(toDecision);
  }

  peek(subject: string): Promise<Decision> {
    return this.ask(['peek', subject]).then(toDecision);
  }

  async unban(subject: string): Promise<void> {
    await this.ask(['unban', subject]);
  }

  private ask(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => this.turn.add({ ask, resolve, reject }));
  }

  private async send(waiting: readonly Waiting[]): Promise<void> {
    try {
      const answers = await within(PATIENCE_MS, this.channel.ask(waiting.map(({ ask }) => ask)));
      waiting.forEach(({ resolve }, index) => resolve(answers[index]!));
    } catch (thrown) {
      const error = thrown instanceof NoAnswer ? serviceUnavailable(thrown) : (thrown as Error);
      for (const { reject } of waiting) reject(error);
    }
  }
}
