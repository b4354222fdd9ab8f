import { Entity, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../database/columns.js';

/**
 * Requests of a rate-limit key in the latest minute and day in which it was counted; `windows.ts`
 * numbers these windows. There is no index by day, because it would double the cost of each save.
 */
@Entity('rate_limit_counters')
export class RateLimitCounter {
  @PrimaryColumn({ name: 'rate_limit_key', length: 64 })
  key!: string;

  @Int64Column()
  minute!: number;

  @Int64Column({ name: 'minute_used' })
  minuteUsed!: number;

  @Int64Column()
  day!: number;

  @Int64Column({ name: 'day_used' })
  dayUsed!: number;
}
