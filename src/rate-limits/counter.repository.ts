import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { RateLimitCounter } from './rate-limit-counter.entity.js';
import type { Count } from './stores/memory.store.js';
import type { Subject } from './subject.js';

type CountRow = { subject: Subject } & Record<Exclude<keyof Count, 'subject'>, number | string>;

/** Several nodes may count on their own, so the higher count of a window is kept. */
const HIGHER = (['minute', 'day'] as const)
  .map((window) => {
    const used = `${window}_used`;
    const isStale = `excluded.${window} < c.${window}
      OR (excluded.${window} = c.${window} AND excluded.${used} < c.${used})`;
    return [window, used]
      .map(
        (column) => `${column} = CASE WHEN ${isStale} THEN c.${column} ELSE excluded.${column} END`,
      )
      .join(', ');
  })
  .join(', ');

/** The counters of this process as the database keeps them. */
@Injectable()
export class CounterRepository {
  constructor(
    @InjectRepository(RateLimitCounter) private readonly counters: Repository<RateLimitCounter>,
  ) {}

  /** Writes all counts in one statement. Rows are locked in the order of subjects, so that nodes never deadlock. */
  async save(counts: readonly Count[]): Promise<void> {
    const isPostgres = this.counters.manager.dataSource.options.type === 'postgres';
    const entries = isPostgres
      ? 'json_array_elements($1::json) AS entry(value)'
      : 'json_each(?) AS entry';
    const columns = ['minute', 'minute_used', 'day', 'day_used'];
    const values = columns.map((_, index) => `CAST(entry.value ->> ${index + 1} AS bigint)`);
    const rows = counts.map(({ subject, minute, minuteUsed, day, dayUsed }) => [
      ...[subject, minute, minuteUsed, day, dayUsed],
    ]);
    await this.counters.query(
      `INSERT INTO rate_limit_counters AS c (subject, ${columns.join(', ')})
       SELECT entry.value ->> 0, ${values.join(', ')} FROM ${entries} WHERE true ORDER BY 1
       ON CONFLICT (subject) DO UPDATE SET ${HIGHER}`,
      [JSON.stringify(rows)],
    );
  }

  /** The counts of a day and of later ones, oldest first. */
  async since(day: number): Promise<Count[]> {
    const rows = await this.counters.manager.sql<CountRow[]>`
      SELECT subject, minute, minute_used AS "minuteUsed", day, day_used AS "dayUsed"
      FROM rate_limit_counters WHERE day >= ${day} ORDER BY minute`;
    return rows.map(({ subject, minute, minuteUsed, day, dayUsed }) => ({
      subject,
      minute: Number(minute),
      minuteUsed: Number(minuteUsed),
      day: Number(day),
      dayUsed: Number(dayUsed),
    }));
  }

  async find(subject: Subject): Promise<Count | undefined> {
    return (await this.counters.findOneBy({ subject })) ?? undefined;
  }

  /** Deletes up to `rows` counts of earlier days. Returns how many it deleted. */
  forgetBefore(day: number, rows: number): Promise<number> {
    return this.delete('day < :day', { day, rows });
  }

  /** Deletes up to `rows` addresses that were last counted before `minute`. Returns how many it deleted. */
  forgetAddressesBefore(minute: number, rows: number): Promise<number> {
    return this.delete(`subject LIKE 'ip:%' AND minute < :minute`, { minute, rows });
  }

  private async delete(condition: string, parameters: Record<string, number>): Promise<number> {
    const some = `SELECT subject FROM rate_limit_counters WHERE ${condition} LIMIT :rows`;
    // PostgreSQL evaluates only the outer condition again for a row that another node has just updated.
    const { affected } = await this.counters
      .createQueryBuilder()
      .delete()
      .where(`subject IN (${some}) AND ${condition}`, parameters)
      .execute();
    return affected ?? 0;
  }
}
