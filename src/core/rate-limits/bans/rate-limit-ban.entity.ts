import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../../database/columns.js';
import type { Ban } from './bans.js';

/** The last ban of a client. Times are Unix milliseconds. */
@Entity('rate_limit_bans')
@Index('rate_limit_bans_changed_at', ['changedAt'])
export class RateLimitBan implements Ban {
  @PrimaryColumn({ name: 'rate_limit_key', length: 64 })
  key!: string;

  @Int64Column({ name: 'banned_at' })
  at!: number;

  @Int64Column({ name: 'banned_until' })
  until!: number;

  @Column({ type: 'integer' })
  bans!: number;

  /** By the database's clock. */
  @Int64Column({ name: 'changed_at' })
  changedAt!: number;
}
