import { AbstractLogger } from 'typeorm';
import type { Logger } from '../telemetry/logger.js';

/** Logs TypeORM's warnings. By default it prints to standard output, which belongs to the result of a command. */
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
