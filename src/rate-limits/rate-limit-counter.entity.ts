import { Column, Entity, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/**
 * Requests of a subject in the latest minute and day in which it was counted; `windows.ts` numbers
 * these windows. There is no index by day, because it would double the cost of each save.
 */
@Entity('rate_limit_counters')
export class RateLimitCounter {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  subject!: string;

  @Column({ type: 'bigint', transformer: numberColumn })
  minute!: number;

  @Column({ name: 'minute_used', type: 'bigint', transformer: numberColumn })
  minuteUsed!: number;

  @Column({ type: 'bigint', transformer: numberColumn })
  day!: number;

  @Column({ name: 'day_used', type: 'bigint', transformer: numberColumn })
  dayUsed!: number;
}
