import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';

/** What the command line or another node changed is in force within a second: two looks, and some slack. */
const INTERVAL_MS = 300;
/**
 * A look asks for the changes of this long, over and over: a transaction may be committed some time after
 * the moment that it has written down as its own.
 */
export const CHANGE_OVERLAP_MS = 10_000;

export type Look = () => Promise<void>;

/** Looks for changes that others made in the database, one look after the other. */
@Injectable()
export class Poller implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly looks: Look[] = [];
  private timer: NodeJS.Timeout | undefined;
  private stopped = false;
  private failingSince: number | undefined;

  constructor(private readonly logger: Logger) {}

  watch(look: Look): void {
    this.looks.push(look);
  }

  /** For how long the database could not be read: milliseconds, 0 where the last look succeeded. */
  get blindForMs(): number {
    return this.failingSince === undefined ? 0 : performance.now() - this.failingSince;
  }

  onApplicationBootstrap(): void {
    if (this.looks.length > 0) this.schedule();
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (!this.stopped) this.timer = setTimeout(() => void this.lookAround(), INTERVAL_MS).unref();
  }

  private async lookAround(): Promise<void> {
    const startedAt = performance.now();
    try {
      for (const look of this.looks) await look();
      if (this.failingSince !== undefined) this.logger.info({}, 'The database can be read again');
      this.failingSince = undefined;
    } catch (err) {
      // Said once: an outage is one event, however often it is noticed.
      if (this.failingSince === undefined) {
        this.logger.error(
          { err },
          'The database cannot be read; answering from memory where possible',
        );
      }
      this.failingSince ??= startedAt;
    }
    this.schedule();
  }
}
