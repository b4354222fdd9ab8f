import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { Clock, Sighting, Stopwatch } from '../time/clock.js';
import { Engine } from './engine.js';
import { isHeld } from './outage.js';
import { Statement } from './statement.js';

/** What the command line or another node changed is in force within a second: two looks, and some slack. */
const INTERVAL_MS = 300;
const INTERVAL_WHILE_FAILING_MS = 100;
/** What is remembered counts for so long from the beginning of the last look that was complete. */
const CURRENT_MS = 900;
/** A transaction may be committed so long after the moment that it has written down as its own. */
const LATE_COMMIT_MS = 10_000;
/** After a longer gap it is less work to forget everything than to ask what has changed. */
const LONGEST_GAP_MS = 600_000;
/** Who holds a lock keeps others from changing anything, but may have been late for a change before it. */
const LONGEST_LOCK_MS = 60_000;

const NOW = new Statement<{ nowMs: number | string }>(
  'poller.now',
  ({ nowMs }) => `SELECT ${nowMs} AS "nowMs"`,
);

/**
 * Takes in what has changed since `sinceMs` by the database's clock, as rows say it of themselves; all
 * there is where it is undefined. Rejects where it could not.
 */
export type Look = (sinceMs: number | undefined) => Promise<void>;

/**
 * Looks for changes that others made in the database, one look after the other.
 *
 * A look asks for what has changed since the beginning of the last one that was complete, and for some
 * seconds more, since a transaction may be committed after the moment that it wrote down. So what
 * happened while this process stood still, or the database was out of reach, is seen by the first look
 * after. How long that was is measured here as well: the database's clock may have been set back.
 */
@Injectable()
export class Poller implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly watches: Watch[] = [];
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private failing = false;

  constructor(
    private readonly engine: Engine,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  watch(look: Look): Watch {
    const watch = new Watch(look);
    this.watches.push(watch);
    return watch;
  }

  /** The first look is over before the first request comes. */
  async onApplicationBootstrap(): Promise<void> {
    if (this.watches.length > 0) await this.lookAround();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private schedule(ms: number): void {
    if (!this.stopped) this.timer = setTimeout(() => void this.lookAround(), ms).unref();
  }

  private async lookAround(): Promise<void> {
    try {
      const begun = new Stopwatch(this.clock);
      const [row] = await this.engine.observe(NOW);
      let failure: Error | undefined;
      // What one cannot see is not to keep the others from looking.
      for (const watch of this.watches) {
        failure = (await watch.look(begun, Number(row!.nowMs))) ?? failure;
      }
      if (failure !== undefined) throw failure;
      if (this.failing) this.logger.info({}, 'The database can be read again');
      this.failing = false;
    } catch (err) {
      if (this.stopped) return;
      // Said once: an outage is one event, however often it is noticed.
      if (!this.failing) {
        this.logger.error(
          { err },
          'The database cannot be read; answering from memory where possible',
        );
      }
      this.failing = true;
    }
    this.schedule(this.failing ? INTERVAL_WHILE_FAILING_MS : INTERVAL_MS);
  }
}

/** What one look has seen, and when. It is current as well where the table was found locked: nobody else could change it. */
export class Watch extends Sighting {
  /** Runs from the beginning of the last look that was complete. */
  private seen: Stopwatch | undefined;
  /** That moment by the database's clock. */
  private seenMs = 0;

  constructor(private readonly take: Look) {
    super(CURRENT_MS);
  }

  /** How long ago the last complete look began; Infinity where there was none. */
  get unseenForMs(): number {
    return this.seen?.elapsedMs ?? Infinity;
  }

  /** @returns the error, where another transaction has locked what there is to see */
  async look(begun: Stopwatch, nowMs: number): Promise<Error | undefined> {
    try {
      await this.take(this.sinceMs(nowMs));
    } catch (error) {
      const isTrusted = this.isCurrent && this.unseenForMs < LONGEST_LOCK_MS;
      if (isHeld(error) && isTrusted) this.current = begun;
      return error as Error;
    }
    this.seen = begun;
    this.seenMs = nowMs;
    this.current = begun;
    return undefined;
  }

  private sinceMs(nowMs: number): number | undefined {
    const gapMs = this.unseenForMs;
    if (gapMs > LONGEST_GAP_MS) return undefined;
    return Math.min(this.seenMs, Math.floor(nowMs - gapMs)) - LATE_COMMIT_MS;
  }
}
