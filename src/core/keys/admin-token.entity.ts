import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../database/columns.js';

/** An operator may do everything, a viewer may only read. */
export const ADMIN_ROLES = ['operator', 'viewer'] as const;
export type AdminRole = (typeof ADMIN_ROLES)[number];

/** A token of the admin API as stored. Times are Unix milliseconds. */
@Entity('admin_tokens')
@Index('admin_tokens_digest', ['digest'], { unique: true })
export class AdminToken {
  @PrimaryColumn({ length: 32 })
  id!: string;

  @Column({ length: 255 })
  name!: string;

  @Column({ type: 'varchar', length: 16 })
  role!: AdminRole;

  /** SHA-256 of the token in base64url. */
  @Column({ length: 43 })
  digest!: string;

  @Int64Column({ name: 'created_at' })
  createdAt!: number;

  /** Null: never. */
  @Int64Column({ name: 'expires_at', nullable: true })
  expiresAt!: number | null;

  @Int64Column({ name: 'revoked_at', nullable: true })
  revokedAt!: number | null;
}
