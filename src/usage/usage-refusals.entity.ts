import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** The latest refusals of a client by one process. */
@Entity('usage_refusals')
@Index('usage_refusals_at', ['at'])
export class UsageRefusals {
  @PrimaryColumn({ name: 'client_id', type: 'varchar', length: 64 })
  clientId!: string;

  @PrimaryColumn({ type: 'varchar', length: 32 })
  writer!: string;

  /** JSON: an array of `Refusal`. */
  @Column({ type: 'text' })
  refusals!: string;

  /** Of the last of them: Unix milliseconds. */
  @Column({ type: 'bigint', transformer: numberColumn })
  at!: number;
}
