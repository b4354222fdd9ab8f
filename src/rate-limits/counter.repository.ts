import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThanOrEqual, type Repository } from 'typeorm';
import { jsonElements } from '../database/dialect.js';
import { deleteInBatches } from '../database/in-batches.js';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import type { RateLimitKey } from './rate-limit-key.js';

/** Several nodes may count on their own: the higher count of each window wins. */
const HIGHER = ['minute', 'day'].flatMap((window) => {
  const used = `${window}_used`;
  const isHigher = `(excluded.${window}, excluded.${used}) > (c.${window}, c.${used})`;
  return [window, used].map(
    (column) => `${column} = CASE WHEN ${isHigher} THEN excluded.${column} ELSE c.${column} END`,
  );
});

/** The columns of a counter in a JSON array, as `save` sends it. */
const COUNTER = [1, 2, 3, 4].reduce(
  (columns, index) => `${columns}, CAST(entry.value ->> ${index} AS bigint)`,
  'entry.value ->> 0',
);

/** This process's counters as the database keeps them. */
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
    const { dataSource } = this.counters.manager;
    const rows = counts.map((c) => [c.subject, c.minute, c.minuteUsed, c.day, c.dayUsed]);
    await dataSource.sql`
      INSERT INTO rate_limit_counters AS c (subject, minute, minute_used, day, day_used)
      SELECT ${() => COUNTER} FROM ${() => jsonElements(dataSource)}(${JSON.stringify(rows)}) entry
      WHERE true ORDER BY 1 ON CONFLICT (subject) DO UPDATE SET ${() => HIGHER.join(', ')}`;
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
