import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Clock, Stopwatch } from '../time/clock.js';
import { BackgroundTasks, type Flush } from './background-tasks.js';
import { Database, type Statement } from './database.js';
import { NOW } from './database-time.js';

/** A change takes effect on every node within a second: two polls, and some slack. */
const INTERVAL_MS = 300;
/** How long cached rows count as current, from the start of the last complete poll. */
const CURRENT_MS = 900;
/** A row's timestamp may be this much older than its commit. */
const LATE_COMMIT_MS = 10_000;
/** The same if a disk or a process hung in the commit. */
const HUNG_COMMIT_MS = 3_600_000;
/** One of them looks further back. */
const POLLS_PER_MINUTE = 200;

const READ_CLOCK: Statement = {
  name: 'poller.now',
  sqlite: `SELECT ${NOW.sqlite} AS "nowMs"`,
  postgres: `SELECT ${NOW.postgres} AS "nowMs"`,
};

/**
 * Loads the rows with `changed_at >= sinceMs` (database clock). The first poll has no `sinceMs`.
 */
export type PollCallback = (sinceMs: number | undefined) => Promise<void>;

/**
 * Polls the database for changes by other processes.
 *
 * A poll asks for changes since the start of the last complete one, and for some seconds more,
 * because a transaction may commit after the time in its rows. Once a minute it asks for the last
 * hour, because a commit may hang: such a change takes effect within a minute.
 *
 * After a pause of this process or an outage of the database, the first poll covers the whole gap.
 * The gap is measured here too, because the database's clock may have been set back.
 */
@Injectable()
export class ChangePoller implements OnApplicationBootstrap {
  private readonly poll: Flush;
  private readonly callbacks: PollCallback[] = [];
  /** Runs from the start of the last complete poll. */
  private polled: Stopwatch | undefined;
  /** The same moment by the database's clock. */
  private polledMs = 0;
  private polls = 0;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    background: BackgroundTasks,
  ) {
    this.poll = background.add({
      task: 'read changes from the database',
      intervalMs: INTERVAL_MS,
      run: (stop) => this.loadChanges(stop),
    });
  }

  subscribe(callback: PollCallback): void {
    this.callbacks.push(callback);
  }

  /** Whether everything that the callbacks have loaded is current. */
  get isCurrent(): boolean {
    return this.staleForMs < CURRENT_MS;
  }

  /** Time since the start of the last complete poll; Infinity before the first one. */
  get staleForMs(): number {
    return this.polled?.elapsedMs ?? Infinity;
  }

  /** The first poll is complete before the first request. */
  async onApplicationBootstrap(): Promise<void> {
    await this.poll();
  }

  private async loadChanges(stop: AbortSignal): Promise<void> {
    if (stop.aborted || this.callbacks.length === 0) return;
    const started = new Stopwatch(this.clock);
    const [row] = await this.database.poll<{ nowMs: number | string }>(READ_CLOCK);
    const nowMs = Number(row!.nowMs);
    const lateMs = ++this.polls % POLLS_PER_MINUTE === 0 ? HUNG_COMMIT_MS : LATE_COMMIT_MS;
    const sinceMs = Math.min(this.polledMs, Math.floor(nowMs - this.staleForMs)) - lateMs;
    for (const callback of this.callbacks) await callback(this.polled && sinceMs);
    this.polledMs = nowMs;
    this.polled = started;
  }
}
