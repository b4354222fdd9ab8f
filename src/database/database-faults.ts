import { Injectable } from '@nestjs/common';
import { Logger } from '../telemetry/logger.js';
import { driverErrorOf, isDatabaseOutage } from './outage.js';

const INTERVAL_MS = 60_000;

/** A fault that an operator has to fix. Other outages end by themselves. */
export type DatabaseFault = 'damaged' | 'disk full';

const CODES: Readonly<Record<DatabaseFault, RegExp>> = {
  damaged: /^SQLITE_(?:CORRUPT|NOTADB)/,
  'disk full': /^(?:SQLITE_FULL|53100|ENOSPC)/,
};
const FIXES: Readonly<Record<DatabaseFault, string>> = {
  damaged:
    'The database file is damaged: stop the server, keep a copy of the file, and run petstore restore BACKUP',
  'disk full':
    'The disk of the database is full, so writes are answered with 503: free space on that disk',
};

/** Recognises outages of the database, logs faults once a minute, and remembers them for readiness. */
@Injectable()
export class DatabaseFaults {
  private readonly seenAtMs = new Map<DatabaseFault, number>();
  private readonly loggedAtMs = new Map<DatabaseFault, number>();

  constructor(private readonly logger: Logger) {}

  /** A damaged file stays damaged until the restart; a full disk counts for a minute after the last failed write. */
  get current(): DatabaseFault | undefined {
    if (this.seenAtMs.has('damaged')) return 'damaged';
    const fullForMs = performance.now() - (this.seenAtMs.get('disk full') ?? -Infinity);
    return fullForMs < INTERVAL_MS ? 'disk full' : undefined;
  }

  /** Whether the database, and not the service or its caller, is why `error` was thrown. */
  isOutage(error: unknown): boolean {
    const isOutage = isDatabaseOutage(error);
    if (isOutage) this.note(error);
    return isOutage;
  }

  private note(error: unknown): void {
    const code = String(driverErrorOf(error).code);
    const fault = (['damaged', 'disk full'] as const).find((each) => CODES[each].test(code));
    if (fault === undefined) return;
    const nowMs = performance.now();
    this.seenAtMs.set(fault, nowMs);
    if (nowMs - (this.loggedAtMs.get(fault) ?? -Infinity) < INTERVAL_MS) return;
    this.loggedAtMs.set(fault, nowMs);
    this.logger.error({ err: error }, FIXES[fault]);
  }
}
