import { Logger } from '@nestjs/common';
import { type Answer, type Ask, CounterChannel } from '../rate-limits/stores/counter-channel.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { FromWorker, ToWorker } from './messages.js';

type Listening = Omit<Extract<FromWorker, { kind: 'listening' }>, 'kind'>;

/** A worker's link to the primary process: it counts there, and tells its metrics when asked. */
export class WorkerLink extends CounterChannel {
  /** Of every batch that is on its way, who waits for its answers: the first sent comes back first. */
  private readonly waiting: ((answers: readonly Answer[]) => void)[] = [];
  private metrics: Metrics | undefined;

  constructor() {
    super();
    process.on('message', (message) => void this.hear(message as ToWorker));
  }

  ask(asks: readonly Ask[]): Promise<readonly Answer[]> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      this.say({ kind: 'ask', asks });
    });
  }

  listening(where: Listening, metrics: Metrics): void {
    this.metrics = metrics;
    this.say({ kind: 'listening', ...where });
  }

  private async hear(message: ToWorker): Promise<void> {
    switch (message.kind) {
      case 'answer':
        this.waiting.shift()?.(message.answers);
        return;
      case 'are you alive':
        this.say({ kind: 'alive' });
        return;
      case 'tell metrics':
        this.say({ kind: 'metrics', id: message.id, metrics: await this.snapshot() });
    }
  }

  /** None where it fails: the primary process goes on with those of before, and this one serves on. */
  private async snapshot(): Promise<object[]> {
    try {
      return (await this.metrics?.snapshot()) ?? [];
    } catch (error) {
      new Logger(WorkerLink.name).error(error);
      return [];
    }
  }

  /** Once the primary process is gone, this one is ended by Node. */
  private say(message: FromWorker): void {
    if (process.connected) process.send!(message);
  }
}
