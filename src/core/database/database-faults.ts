import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { fixOf } from '../config/fixes.js';
import { driverErrorOf } from './database-error.js';
import { sequenceFault } from './sequences.js';
import { Logger } from '../telemetry/logger.js';

const INTERVAL_MS = 60_000;

/** Faults that an operator has to fix, by their codes. Other outages end without that. */
const FAULTS = {
  damaged: /^SQLITE_(?:CORRUPT|NOTADB)/,
  'disk full': /^(?:SQLITE_FULL|53100)/,
  'no permission': /^(?:42501|25006|SQLITE_READONLY)$/,
};

/** Logs faults of the database once a minute, and remembers them for readiness. */
@Injectable()
export class DatabaseFaults {
  private readonly loggedAtMs = new Map<string, number>();

  constructor(
    private readonly logger: Logger,
    private readonly dataSource: DataSource,
  ) {}

  /** A damaged file stays damaged until the restart; a full disk may have room again. */
  get current(): string | undefined {
    if (this.loggedAtMs.has('damaged')) return 'damaged';
    return Object.keys(FAULTS).find((name) => this.isRecent(name));
  }

  /**
   * Reports `error` if an operator has to fix its cause.
   * @returns whether it is such an error
   */
  report(error: unknown): boolean {
    const cause = driverErrorOf(error);
    const [name] = Object.entries(FAULTS).find(([, codes]) => codes.test(String(cause.code))) ?? [];
    if (name === undefined) {
      const sequence = sequenceFault(error, this.dataSource);
      if (sequence !== undefined) this.log(sequence, sequence, error);
      return sequence !== undefined;
    }
    const place = String(cause.code).startsWith('SQLITE') ? 'sqlite' : 'postgres';
    const fix = fixOf(place, cause, 'the database');
    this.log(name, `The database fails (${name}): ${fix}`, error);
    return true;
  }

  private log(name: string, message: string, err: unknown): void {
    if (this.isRecent(name)) return;
    this.loggedAtMs.set(name, performance.now());
    this.logger.error({ err }, message);
  }

  private isRecent(name: string): boolean {
    return performance.now() - (this.loggedAtMs.get(name) ?? -Infinity) < INTERVAL_MS;
  }
}
