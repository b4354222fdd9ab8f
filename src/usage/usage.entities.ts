import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** How many requests of a client had the same outcome within an hour. */
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

  /** The status of the response. */
  @PrimaryColumn({ type: 'integer' })
  status!: number;

  /** The code of the error, empty if there was none. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  code!: string;

  @Column({ type: 'bigint', transformer: numberColumn })
  used!: number;
}

/** A request that was answered with an error. */
export interface Refusal {
  /** Unix milliseconds. */
  at: number;
  code: string;
  operation: string;
  address: string;
}

/** The latest rejected requests of a client, as one process has seen them. */
@Entity('usage_refusals')
@Index('usage_refusals_at', ['at'])
export class UsageRefusals {
  @PrimaryColumn({ name: 'client_id', type: 'varchar', length: 64 })
  clientId!: string;

  /** The process. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  writer!: string;

  /** The latest at the end. */
  @Column({ type: 'simple-json' })
  refusals!: Refusal[];

  /** The time of the latest: Unix milliseconds. */
  @Column({ type: 'bigint', transformer: numberColumn })
  at!: number;
}
