import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { driverErrorOf } from '../database/outage.js';
import { sequenceFault } from '../database/sequences.js';
import { Logger } from '../telemetry/logger.js';

const INTERVAL_MS = 60_000;

/** Faults that an operator has to fix, by their codes. Other outages end without that. */
const FAULTS = [
  {
    name: 'damaged',
    codes: /^SQLITE_(?:CORRUPT|NOTADB)/,
    fix: `The database file is damaged: stop the server, keep a copy of the file, \
and run petstore restore BACKUP`,
  },
  {
    name: 'disk full',
    codes: /^(?:SQLITE_FULL|53100)/,
    fix: 'The disk of the database is full, so writes get a 503: free space on that disk',
  },
  {
    name: 'no permission',
    codes: /^(?:42501|SQLITE_READONLY)$/,
    fix: `The database does not permit a statement, so its requests get a 503: grant the rights \
that docs/operating.md lists, or make the file writable`,
  },
];

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
    return FAULTS.find(({ name }) => this.isRecent(name))?.name;
  }

  /**
   * Reports `error` if an operator has to fix its cause.
   * @returns whether it is such an error
   */
  report(error: unknown): boolean {
    const code = String(driverErrorOf(error).code);
    const fault = FAULTS.find(({ codes }) => codes.test(code));
    const fix = fault?.fix ?? sequenceFault(error, this.dataSource);
    const name = fault?.name ?? fix;
    if (fix === undefined || name === undefined) return false;
    if (!this.isRecent(name)) {
      this.loggedAtMs.set(name, performance.now());
      this.logger.error({ err: error }, fix);
    }
    return true;
  }

  private isRecent(name: string): boolean {
    return performance.now() - (this.loggedAtMs.get(name) ?? -Infinity) < INTERVAL_MS;
  }
}
