import { AbstractLogger } from 'typeorm';
import type { Logger } from '../telemetry/logger.js';

/** TypeORM's warnings as lines of the log. All else it would tell on standard output, where a command has its result. */
export class DatabaseLog extends AbstractLogger {
  constructor(private readonly logger: Logger) {
    super(['warn']);
  }

  protected override writeLog(
    ...[, entries]: Parameters<AbstractLogger['writeLog']>
  ): ReturnType<AbstractLogger['writeLog']> {
    for (const entry of [entries].flat()) {
      const text = typeof entry === 'object' ? entry.message : entry;
      this.logger.warn({ context: 'TypeORM' }, String(text));
    }
  }
}
