import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../../database/columns.js';

/** The last ban of a subject, and how many came before it. Times are Unix milliseconds. */
@Entity('rate_limit_bans')
@Index('rate_limit_bans_changed_at', ['changedAt'])
export class RateLimitBan {
  @PrimaryColumn({ type: 'varchar', length: 64 })
  subject!: string;

  @Column({ name: 'banned_at', type: 'bigint', transformer: numberColumn })
  bannedAt!: number;

  /** Not after `bannedAt` where the ban was lifted. */
  @Column({ name: 'banned_until', type: 'bigint', transformer: numberColumn })
  bannedUntil!: number;

  /** Bans in a row, each within 24 hours of the one before. */
  @Column({ type: 'integer' })
  bans!: number;

  @Column({ name: 'changed_at', type: 'bigint', transformer: numberColumn })
  changedAt!: number;
}
