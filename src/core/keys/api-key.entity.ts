import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../database/columns.js';

/** An API key as stored: its digest instead of the key. Times are Unix milliseconds. */
@Entity('api_keys')
@Index('api_keys_digest', ['digest'], { unique: true })
@Index('api_keys_usable', ['clientId', 'expiresAt'], { where: 'revoked_at IS NULL' })
@Index('api_keys_changed_at', ['changedAt'])
@Index('api_keys_expires_at', ['expiresAt'])
@Index('api_keys_replaced_by', ['replacedBy'])
export class ApiKey {
  @PrimaryColumn({ length: 32 })
  id!: string;

  /**
   * The holder of the key: the id of its first key. Rotated keys share it, and with it their
   * counters.
   */
  @Column({ name: 'client_id', length: 32 })
  clientId!: string;

  @Column({ length: 255 })
  name!: string;

  /** SHA-256 of the key in base64url. */
  @Column({ length: 43 })
  digest!: string;

  @Column({ name: 'last_four', length: 4 })
  lastFour!: string;

  @Column({ type: 'varchar', length: 64 })
  plan!: string;

  /** Separated by spaces (RFC 6749 section 3.3). */
  @Column({ length: 1024 })
  scopes!: string;

  /** Addresses and CIDR ranges, separated by spaces. Empty if every address is allowed. */
  @Column({ name: 'allowed_from', type: 'text', default: '' })
  allowedFrom!: string;

  /** Null if the limits are those of the plan. */
  @Int64Column({ name: 'per_minute', nullable: true })
  perMinute!: number | null;

  @Int64Column({ name: 'per_day', nullable: true })
  perDay!: number | null;

  @Int64Column({ name: 'created_at' })
  createdAt!: number;

  @Int64Column({ name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  @Int64Column({ name: 'revoked_at', nullable: true })
  revokedAt!: number | null;

  @Int64Column({ name: 'disabled_at', nullable: true })
  disabledAt!: number | null;

  /** The key that replaced it in a rotation. */
  @Column({ name: 'replaced_by', type: 'varchar', length: 32, nullable: true })
  replacedBy!: string | null;

  /**
   * The key whose holder rotated it to this one, and may repeat the rotation. Null after any
   * change of this key.
   */
  @Column({ name: 'withdrawable_by', type: 'varchar', length: 32, nullable: true })
  withdrawableBy!: string | null;

  /** Null if the key was never used. The first use is exact, later ones lag up to 60 seconds. */
  @Int64Column({ name: 'last_used_at', nullable: true })
  lastUsedAt!: number | null;

  /** The address of the last use. */
  @Column({ name: 'last_used_from', type: 'varchar', length: 64, nullable: true })
  lastUsedFrom!: string | null;

  /** The time of the last change, except of uses. Servers look for later values. */
  @Int64Column({ name: 'changed_at' })
  changedAt!: number;
}
