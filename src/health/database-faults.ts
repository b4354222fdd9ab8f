import { Injectable } from '@nestjs/common';
import { driverErrorOf, isOutage } from '../database/outage.js';
import { Logger } from '../telemetry/logger.js';

const INTERVAL_MS = 60_000;

/** Faults that an operator has to fix, by their codes. Other outages end by themselves. */
const FAULTS = {
  damaged: {
    codes: /^SQLITE_(?:CORRUPT|NOTADB)/,
    fix: 'The database file is damaged: stop the server, keep a copy of the file, and run petstore restore BACKUP',
  },
  'disk full': {
    codes: /^(?:SQLITE_FULL|53100)/,
    fix: 'The disk of the database is full, so writes are answered with 503: free space on that disk',
  },
};
type DatabaseFault = keyof typeof FAULTS;

/**
 * Recognises outages of the database, logs faults once a minute, and remembers them for readiness.
 */
@Injectable()
export class DatabaseFaults {
  private readonly loggedAtMs = new Map<DatabaseFault, number>();

  constructor(private readonly logger: Logger) {}

  /** A damaged file stays damaged until the restart; a full disk may have room again. */
  get current(): DatabaseFault | undefined {
    if (this.loggedAtMs.has('damaged')) return 'damaged';
    return this.isRecent('disk full') ? 'disk full' : undefined;
  }

  /** Whether the database, and not the service or its caller, is why `error` was thrown. */
  isOutage(error: unknown): boolean {
    if (!isOutage(error)) return false;
    const code = String(driverErrorOf(error).code);
    for (const fault of ['damaged', 'disk full'] as const) {
      if (!FAULTS[fault].codes.test(code) || this.isRecent(fault)) continue;
      this.loggedAtMs.set(fault, performance.now());
      this.logger.error({ err: error }, FAULTS[fault].fix);
    }
    return true;
  }

  private isRecent(fault: DatabaseFault): boolean {
    return performance.now() - (this.loggedAtMs.get(fault) ?? -Infinity) < INTERVAL_MS;
  }
}
