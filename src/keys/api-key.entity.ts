import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';
import type { PlanName } from '../rate-limits/plan.js';

/** An API key as stored: its digest instead of the key. Times are Unix milliseconds. */
@Entity('api_keys')
@Index('api_keys_digest', ['digest'], { unique: true })
@Index('api_keys_client_id', ['clientId'])
@Index('api_keys_changed_at', ['changedAt'])
@Index('api_keys_expires_at', ['expiresAt'])
export class ApiKey {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  id!: string;

  /**
   * The holder of the key: the id of its first key. Rotated keys share it, and with it their
   * counters.
   */
  @Column({ name: 'client_id', type: 'varchar', length: 32 })
  clientId!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  /** SHA-256 of the key in base64url. */
  @Column({ type: 'varchar', length: 43 })
  digest!: string;

  @Column({ name: 'last_four', type: 'varchar', length: 4 })
  lastFour!: string;

  @Column({ type: 'varchar', length: 16 })
  plan!: PlanName;

  /** Separated by spaces (RFC 6749 section 3.3). */
  @Column({ type: 'varchar', length: 1024 })
  scopes!: string;

  /** Null if the limits are those of the plan. */
  @Column({ name: 'per_minute', type: 'bigint', nullable: true, transformer: numberColumn })
  perMinute!: number | null;

  @Column({ name: 'per_day', type: 'bigint', nullable: true, transformer: numberColumn })
  perDay!: number | null;

  @Column({ name: 'created_at', type: 'bigint', transformer: numberColumn })
  createdAt!: number;

  @Column({ name: 'expires_at', type: 'bigint', nullable: true, transformer: numberColumn })
  expiresAt!: number | null;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true, transformer: numberColumn })
  revokedAt!: number | null;

  @Column({ name: 'disabled_at', type: 'bigint', nullable: true, transformer: numberColumn })
  disabledAt!: number | null;

  /** The key that replaced it in a rotation. */
  @Column({ name: 'replaced_by', type: 'varchar', length: 32, nullable: true })
  replacedBy!: string | null;

  /** Null if the key was never used. The first use is exact, later ones lag up to 60 seconds. */
  @Column({ name: 'last_used_at', type: 'bigint', nullable: true, transformer: numberColumn })
  lastUsedAt!: number | null;

  /** The address of the last use; of IPv6, its /64. */
  @Column({ name: 'last_used_from', type: 'varchar', length: 64, nullable: true })
  lastUsedFrom!: string | null;

  /** The time of the last change, except of uses. Servers look for later values. */
  @Column({ name: 'changed_at', type: 'bigint', transformer: numberColumn })
  changedAt!: number;
}
