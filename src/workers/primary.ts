import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Config } from '../config/config.js';
import { PrimaryCounter } from '../rate-limits/stores/primary-counter.js';
import type { Logger } from '../telemetry/logger.js';
import { NestLogger } from '../telemetry/nest-logger.js';
import { beginGracePeriod } from '../time/grace-period.js';
import { atMost } from '../time/within.js';
import type { FromWorker, ToWorker } from './messages.js';
import { PrimaryModule } from './primary.module.js';
import { Pulse } from './pulse.js';
import { WorkerMetrics } from './worker-metrics.js';
import { forkWorker } from './worker-streams.js';

/** A worker that dies younger is replaced after a pause that grows. */
const SETTLED_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

type Listening = Extract<FromWorker, { kind: 'listening' }>;

/** Where the workers listen; and what this process has itself, keys among it. */
export interface Started extends Pick<Listening, 'origin' | 'baseUrl' | 'docsUrl'> {
  app: INestApplicationContext;
}

/** A worker could not start, and has said why. */
export class StartFailed extends Error {
  constructor() {
    super('A worker could not start; its error is above');
  }
}

/** The process that starts the workers, counts for them and looks after them. It serves nobody itself. */
export class Primary {
  private readonly metrics = new WorkerMetrics(() => [...this.workers]);
  private readonly workers = new Set<Worker>();
  private readonly pulse = new Pulse<Worker>(
    (worker) => say(worker, { kind: 'are you alive' }),
    (worker) => this.end(worker),
  );
  private app: INestApplicationContext | undefined;
  private stopping = false;
  private pauseMs = FIRST_PAUSE_MS;

  constructor(
    private readonly config: Config,
    private readonly logger: Logger,
    private readonly count: number,
  ) {}

  /**
   * Starts all workers; resolves once they listen, or to undefined where this is to stop before that. They run
   * the program that runs here, with its arguments. The schema has to be there.
   * @throws where the first one cannot start; it has said why
   */
  async start(): Promise<Started | undefined> {
    if (this.stopping) return undefined;
    const { config, logger, metrics } = this;
    const app = await NestFactory.createApplicationContext(
      PrimaryModule.forRoot({ config, logger, metrics }),
      { logger: new NestLogger(logger), abortOnError: false },
    );
    this.app = app;
    if (this.isStopping()) return undefined;
    // The first by itself: what keeps one from starting keeps all, and should be said once.
    const { origin, baseUrl, docsUrl } = await this.startOne();
    if (this.isStopping()) return undefined;
    await Promise.all(Array.from({ length: this.count - 1 }, () => this.startOne()));
    if (this.isStopping()) return undefined;
    logger.info({ origin, workers: this.count }, 'All workers listen');
    return { app, origin, baseUrl, docsUrl };
  }

  /** Has every worker answer what it has accepted, and then saves the counters. */
  async stop(): Promise<void> {
    const period = beginGracePeriod(this.config.shutdownGraceSeconds);
    this.stopping = true;
    this.pulse.stop();
    const ended = [...this.workers].map((worker) => once(worker, 'exit'));
    for (const { process } of this.workers) process.kill('SIGTERM');
    await atMost(period.workerEndsUntilMs - performance.now(), Promise.all(ended));
    for (const { process } of this.workers) process.kill('SIGKILL');
    // A database that does not answer does not take leave either.
    await atMost(period.closeUntilMs - performance.now(), Promise.resolve(this.app?.close()));
    this.logger.info({}, 'All workers have stopped');
    this.logger.flush();
  }

  /** As it is now: it changes while something else is awaited. */
  private isStopping(): boolean {
    return this.stopping;
  }

  private async startOne(): Promise<Listening> {
    const worker = forkWorker();
    this.workers.add(worker);
    // What is sent to one that has just died: its exit says the rest.
    worker.on('error', (err) => this.logger.debug({ err }, 'A worker could not be told something'));
    const startedAt = performance.now();
    let isListening = false;
    const listening = new Promise<Listening>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        this.pulse.heard(worker);
        if (message.kind !== 'listening') return this.hear(worker, message);
        isListening = true;
        this.pulse.watch(worker);
        resolve(message);
      });
      worker.once('exit', (_exitCode: number, signal: string | null) => {
        reject(signal === null ? new StartFailed() : new Error(`A worker was ended by ${signal}`));
      });
    });
    worker.once('exit', (exitCode: number, signal: string) => {
      this.workers.delete(worker);
      this.pulse.forget(worker);
      if (this.stopping || !isListening) return;
      const { pid } = worker.process;
      this.logger.error({ pid, exitCode, signal }, 'A worker died; another one takes its place');
      void this.replace(performance.now() - startedAt);
    });
    return listening;
  }

  private async replace(lifeMs: number): Promise<void> {
    this.pauseMs =
      lifeMs >= SETTLED_MS ? FIRST_PAUSE_MS : Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
    const startedAt = performance.now();
    await pause(this.pauseMs, undefined, { ref: false });
    if (this.stopping) return;
    try {
      await this.startOne();
    } catch (err) {
      this.logger.error({ err }, 'A worker could not be replaced; tried again');
      await this.replace(performance.now() - startedAt);
    }
  }

  private hear(worker: Worker, message: Exclude<FromWorker, Listening>): void {
    switch (message.kind) {
      case 'alive':
        return;
      case 'metrics':
        this.metrics.heard(message);
        return;
      case 'ask': {
        const answers = this.app!.get(PrimaryCounter).answer(message.asks);
        say(worker, { kind: 'answer', answers });
      }
    }
  }

  /** It would take its share of the connections for ever, and answer none. */
  private end({ process }: Worker): void {
    this.logger.error({ pid: process.pid }, 'A worker hangs and is ended');
    process.kill('SIGKILL');
  }
}

function say(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message);
}
