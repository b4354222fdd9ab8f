import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../../database/columns.js';

/** The last ban of a subject. Times are Unix milliseconds. */
@Entity('rate_limit_bans')
@Index('rate_limit_bans_changed_at', ['changedAt'])
export class RateLimitBan {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  subject!: string;

  @Column({ name: 'banned_at', type: 'bigint', transformer: numberColumn })
  bannedAt!: number;

  /** 0 if the ban was lifted. */
  @Column({ name: 'banned_until', type: 'bigint', transformer: numberColumn })
  bannedUntil!: number;

  /** Bans in a row, each within 24 hours of the previous one. */
  @Column({ type: 'integer' })
  bans!: number;

  /** By the database's clock. */
  @Column({ name: 'changed_at', type: 'bigint', transformer: numberColumn })
  changedAt!: number;
}
