import { AsyncResource } from 'node:async_hooks';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { DatabaseFaults } from './database-faults.js';

interface BackgroundWork {
  /** Completes "Cannot ..." in the log, such as `save counters`. */
  task: string;
  intervalMs: number;
  /**
   * Writes what is pending, or polls. What could not be written must stay pending, or be put back.
   * @param stop aborted during the shutdown: write pending data, but start no lengthy work
   * @throws any error: the work is repeated after the interval
   */
  run: (stop: AbortSignal) => Promise<void>;
}

/**
 * Runs a task now, outside of the caller's async context. While it is running, the same run is
 * returned. It never rejects.
 */
export type Flush = () => Promise<void>;

/**
 * Tasks that write to the database or poll it: at an interval, and once more at the shutdown,
 * before the database is closed. A failure is logged when it begins and when it ends, and at the
 * shutdown.
 */
@Injectable()
export class BackgroundTasks implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly tasks: Task[] = [];
  private readonly stopping = new AbortController();
  private timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly logger: Logger,
    private readonly faults: DatabaseFaults,
  ) {}

  /** Adds a task, before the start. */
  add(work: BackgroundWork): Flush {
    const task = new Task(work, this.logger, this.faults, this.stopping.signal);
    this.tasks.push(task);
    return () => task.run();
  }

  onApplicationBootstrap(): void {
    this.timers = this.tasks.map((task) =>
      setInterval(() => void task.run(), task.work.intervalMs).unref(),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.stopping.abort();
    await Promise.all(this.tasks.map((task) => task.finish()));
  }
}

class Task {
  /** Runs outside of every request's context, because it flushes data of many requests. */
  private readonly scope = new AsyncResource('BackgroundTask');
  private running: Promise<void> | undefined;
  private isFailing = false;

  constructor(
    readonly work: BackgroundWork,
    private readonly logger: Logger,
    private readonly faults: DatabaseFaults,
    private readonly stop: AbortSignal,
  ) {}

  run(): Promise<void> {
    this.running ??= this.scope
      .runInAsyncScope(() => this.attempt())
      .finally(() => (this.running = undefined));
    return this.running;
  }

  /** What became pending during the current run is written by one more. */
  async finish(): Promise<void> {
    await this.running;
    await this.run();
    if (this.isFailing) this.logger.error({}, `Could not ${this.work.task} at shutdown`);
  }

  private async attempt(): Promise<void> {
    const { task, run } = this.work;
    try {
      await run(this.stop);
      if (this.isFailing) this.logger.info({}, `Can ${task} again`);
      this.isFailing = false;
    } catch (err) {
      this.faults.report(err);
      if (!this.isFailing) this.logger.warn({ err }, `Cannot ${task}; retrying`);
      this.isFailing = true;
    }
  }
}
