import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThanOrEqual, type Repository } from 'typeorm';
import { deleteInBatches } from '../database/in-batches.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import type { RateLimitKey } from './rate-limit-key.js';

/** Several nodes may count on their own: of each window, the higher count is kept. */
const HIGHER = ['minute', 'day'].flatMap((window) => {
  const used = `${window}_used`;
  const isHigher = `(excluded.${window}, excluded.${used}) > (c.${window}, c.${used})`;
  return [window, used].map(
    (column) => `${column} = CASE WHEN ${isHigher} THEN excluded.${column} ELSE c.${column} END`,
  );
});

/** The counters of this process as the database keeps them. */
@Injectable()
export class CounterRepository {
  constructor(
    @InjectRepository(RateLimitCounter) private readonly counters: Repository<RateLimitCounter>,
  ) {}

  /**
   * Writes all counts in one statement. Rows are locked in the order of subjects, so that nodes
   * never deadlock.
   */
  async save(counts: readonly RateLimitCounter[]): Promise<void> {
    const isPostgres = this.counters.manager.dataSource.options.type === 'postgres';
    const source = isPostgres ? 'json_array_elements($1::json) AS e(value)' : 'json_each(?) AS e';
    const integer = (index: number): string => `CAST(e.value ->> ${index} AS bigint)`;
    const rows = counts.map((c) => [c.subject, c.minute, c.minuteUsed, c.day, c.dayUsed]);
    await this.counters.query(
      `INSERT INTO rate_limit_counters AS c (subject, minute, minute_used, day, day_used)
       SELECT e.value ->> 0, ${[1, 2, 3, 4].map(integer).join(', ')} FROM ${source}
       WHERE true ORDER BY 1 ON CONFLICT (subject) DO UPDATE SET ${HIGHER.join(', ')}`,
      [JSON.stringify(rows)],
    );
  }

  /** The counts of a day and of later ones, oldest first. */
  since(day: number): Promise<RateLimitCounter[]> {
    return this.counters.find({ where: { day: MoreThanOrEqual(day) }, order: { minute: 'ASC' } });
  }

  find(subject: RateLimitKey): Promise<RateLimitCounter | null> {
    return this.counters.findOneBy({ subject });
  }

  /** Deletes the counts of earlier days. */
  forgetBefore(day: number, stop: AbortSignal): Promise<void> {
    return deleteInBatches(this.counters, 'day < :day', { day }, stop);
  }

  /** Deletes the addresses that were last counted before `minute`. */
  forgetAddressesBefore(minute: number, stop: AbortSignal): Promise<void> {
    const condition = `subject LIKE 'ip:%' AND minute < :minute`;
    return deleteInBatches(this.counters, condition, { minute }, stop);
  }
}
