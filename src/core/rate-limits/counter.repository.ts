import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThanOrEqual, type Repository } from 'typeorm';
import { Database, rowsStatement } from '../database/database.js';
import { deleteInBatches } from '../database/in-batches.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';

/** Several nodes may count on their own: the higher count of each window wins. */
const SAVE = rowsStatement(
  'counters.save',
  (elements) => `
  INSERT INTO rate_limit_counters AS c (rate_limit_key, minute, minute_used, day, day_used)
  SELECT entry.value ->> 0, CAST(entry.value ->> 1 AS bigint),
    CAST(entry.value ->> 2 AS bigint), CAST(entry.value ->> 3 AS bigint),
    CAST(entry.value ->> 4 AS bigint)
  FROM ${elements}($1) entry
  WHERE true ORDER BY 1 ON CONFLICT (rate_limit_key) DO UPDATE SET
    minute_used = CASE WHEN (excluded.minute, excluded.minute_used) > (c.minute, c.minute_used)
      THEN excluded.minute_used ELSE c.minute_used END,
    minute = CASE WHEN excluded.minute > c.minute THEN excluded.minute ELSE c.minute END,
    day_used = CASE WHEN (excluded.day, excluded.day_used) > (c.day, c.day_used)
      THEN excluded.day_used ELSE c.day_used END,
    day = CASE WHEN excluded.day > c.day THEN excluded.day ELSE c.day END`,
);

/** This process's counters as the database keeps them. */
@Injectable()
export class CounterRepository {
  constructor(
    @InjectRepository(RateLimitCounter) private readonly counters: Repository<RateLimitCounter>,
    private readonly database: Database,
  ) {}

  /**
   * Writes all counts in one statement. Rows are locked in the order of keys, so that nodes never
   * deadlock.
   */
  async save(counts: readonly RateLimitCounter[]): Promise<void> {
    const rows = counts.map((c) => [c.key, c.minute, c.minuteUsed, c.day, c.dayUsed]);
    await this.database.write(SAVE, JSON.stringify(rows));
  }

  /** The counts of a day and of later ones, oldest first. */
  since(day: number): Promise<RateLimitCounter[]> {
    return this.counters.find({ where: { day: MoreThanOrEqual(day) }, order: { minute: 'ASC' } });
  }

  find(key: string): Promise<RateLimitCounter | null> {
    return this.counters.findOneBy({ key });
  }

  /** Deletes the counts of earlier days. */
  forgetBefore(day: number, stop: AbortSignal): Promise<void> {
    return deleteInBatches(this.counters, 'day < :day', { day }, stop);
  }

  /** Deletes the addresses that were last counted before `minute`. */
  forgetAddressesBefore(minute: number, stop: AbortSignal): Promise<void> {
    const condition = `rate_limit_key LIKE 'ip:%' AND minute < :minute`;
    return deleteInBatches(this.counters, condition, { minute }, stop);
  }
}
