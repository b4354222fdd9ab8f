import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { Clock, Stopwatch } from '../time/clock.js';
import { Database, type Statement } from './database.js';
import { isHeld } from './outage.js';

/** A change takes effect on every node within a second: two polls, and some slack. */
const INTERVAL_MS = 300;
const INTERVAL_WHILE_FAILING_MS = 100;
/** How long cached rows count as current, from the start of the last complete poll. */
const CURRENT_MS = 900;
/** A transaction may commit this long after the time that it has written to its rows. */
const LATE_COMMIT_MS = 10_000;
/** After a longer gap, it costs less to load everything than to ask for changes. */
const LONGEST_GAP_MS = 600_000;
/** A lock on the table prevents changes, so cached rows stay current for up to this long. */
const LONGEST_LOCK_MS = 60_000;

const NOW: Statement = {
  name: 'poller.now',
  sqlite: `SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS "nowMs"`,
  postgres: `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint) AS "nowMs"`,
};

/** Loads the rows with `changed_at >= sinceMs` (database clock), or everything if it is undefined. */
export type PollCallback = (sinceMs: number | undefined) => Promise<void>;

/**
 * Polls the database for changes by other processes.
 *
 * A poll asks for changes since the start of the last complete one, and for some seconds more, because a transaction may
 * commit after the time in its rows. After a pause of this process or an outage of the database, the first poll covers
 * the whole gap. The gap is measured here too, because the database's clock may have been set back.
 */
@Injectable()
export class ChangePoller implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly subscriptions: Subscription[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  private isFailing = false;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  subscribe(callback: PollCallback): Subscription {
    const subscription = new Subscription(callback);
    this.subscriptions.push(subscription);
    return subscription;
  }

  /** The first poll is complete before the first request. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.subscriptions.length > 0) await this.poll();
  }

  onApplicationShutdown(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(ms: number): void {
    if (!this.isStopped) this.timer = setTimeout(() => void this.poll(), ms).unref();
  }

  private async poll(): Promise<void> {
    try {
      const started = new Stopwatch(this.clock);
      const [row] = await this.database.observe<{ nowMs: number | string }>(NOW);
      let failure: Error | undefined;
      // A table that cannot be read does not keep the other subscriptions from polling.
      for (const subscription of this.subscriptions) {
        failure = (await subscription.poll(started, Number(row!.nowMs))) ?? failure;
      }
      if (failure !== undefined) throw failure;
      if (this.isFailing) this.logger.info({}, 'The database can be read again');
      this.isFailing = false;
    } catch (err) {
      if (this.isStopped) return;
      // Logged once per outage.
      if (!this.isFailing) {
        const message = 'The database cannot be read; answering from memory where possible';
        this.logger.error({ err }, message);
      }
      this.isFailing = true;
    }
    this.schedule(this.isFailing ? INTERVAL_WHILE_FAILING_MS : INTERVAL_MS);
  }
}

/** How fresh the rows of one callback are. */
export class Subscription {
  /** Runs from the start of the last poll after which the rows were current. */
  private current: Stopwatch | undefined;
  /** Runs from the start of the last complete poll. */
  private polled: Stopwatch | undefined;
  /** The same moment by the database's clock. */
  private polledMs = 0;

  constructor(private readonly callback: PollCallback) {}

  get isCurrent(): boolean {
    return this.current !== undefined && this.current.elapsedMs < CURRENT_MS;
  }

  /** Time since the start of the last complete poll; Infinity before the first one. */
  get staleForMs(): number {
    return this.polled?.elapsedMs ?? Infinity;
  }

  /** @returns the error of the callback */
  async poll(started: Stopwatch, nowMs: number): Promise<Error | undefined> {
    try {
      await this.callback(this.sinceMs(nowMs));
    } catch (error) {
      const isTrusted = this.isCurrent && this.staleForMs < LONGEST_LOCK_MS;
      if (isHeld(error) && isTrusted) this.current = started;
      return error as Error;
    }
    this.polled = started;
    this.polledMs = nowMs;
    this.current = started;
    return undefined;
  }

  private sinceMs(nowMs: number): number | undefined {
    const gapMs = this.staleForMs;
    if (gapMs > LONGEST_GAP_MS) return undefined;
    return Math.min(this.polledMs, Math.floor(nowMs - gapMs)) - LATE_COMMIT_MS;
  }
}
