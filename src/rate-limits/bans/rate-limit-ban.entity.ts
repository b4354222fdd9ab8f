import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../../database/columns.js';
import type { Ban } from './bans.js';

/** The last ban of a subject. Times are Unix milliseconds. */
@Entity('rate_limit_bans')
@Index('rate_limit_bans_changed_at', ['changedAt'])
export class RateLimitBan implements Ban {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  subject!: string;

  @Column({ name: 'banned_at', type: 'bigint', transformer: numberColumn })
  at!: number;

  @Column({ name: 'banned_until', type: 'bigint', transformer: numberColumn })
  until!: number;

  @Column({ type: 'integer' })
  bans!: number;

  /** By the database's clock. */
  @Column({ name: 'changed_at', type: 'bigint', transformer: numberColumn })
  changedAt!: number;
}
