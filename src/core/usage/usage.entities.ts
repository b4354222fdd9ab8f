import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column, numberColumn } from '../database/columns.js';
import { DAY_MS } from '../time/windows.js';

/** The longest history. */
export const KEPT_MS = 7 * DAY_MS;

/** How many requests of a client for an operation had the same outcome within an hour. */
@Entity('usage_hours', { withoutRowid: true })
export class UsageHour {
  /**
   * Hours since the Unix epoch. First in the primary key, so that rows written together are stored
   * together.
   */
  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  hour!: number;

  @PrimaryColumn({ name: 'client_id', type: 'varchar', length: 64 })
  clientId!: string;

  /** The plan of the client at that time. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  plan!: string;

  @PrimaryColumn({ type: 'text' })
  operation!: string;

  /** The status of the response. */
  @PrimaryColumn({ type: 'integer' })
  status!: number;

  /** The code of the error, empty if there was none. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  code!: string;

  @Int64Column()
  used!: number;
}

/**
 * The rejected requests of a client on one UTC day that have the same code, operation, address and
 * window. Times are Unix milliseconds.
 */
@Entity('rejected_requests', { withoutRowid: true })
@Index('rejected_requests_latest', ['clientId', 'at'])
export class RejectedGroup {
  /** Days since the Unix epoch. First, as in `usage_hours`. */
  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  day!: number;

  @PrimaryColumn({ name: 'client_id', type: 'varchar', length: 64 })
  clientId!: string;

  @PrimaryColumn({ type: 'varchar', length: 64 })
  code!: string;

  @PrimaryColumn({ type: 'text' })
  operation!: string;

  @PrimaryColumn({ type: 'varchar', length: 64 })
  address!: string;

  /** The window of the plan that was full, empty if there was none. */
  @PrimaryColumn({ name: 'full_window', type: 'varchar', length: 6 })
  window!: 'minute' | 'day' | '';

  /** The key of the latest request. */
  @Column({ name: 'key_id', type: 'varchar', length: 64 })
  keyId!: string;

  @Int64Column()
  count!: number;

  @Int64Column({ name: 'first_at' })
  firstAt!: number;

  /** The latest request. */
  @Int64Column({ name: 'latest_at' })
  at!: number;
}
