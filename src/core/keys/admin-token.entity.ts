import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../database/columns.js';

/** A token of the admin API as stored. Times are Unix milliseconds. */
@Entity('admin_tokens')
@Index('admin_tokens_digest', ['digest'], { unique: true })
export class AdminToken {
  @PrimaryColumn({ length: 32 })
  id!: string;

  @Column({ length: 255 })
  name!: string;

  /** SHA-256 of the token in base64url. */
  @Column({ length: 43 })
  digest!: string;

  @Int64Column({ name: 'created_at' })
  createdAt!: number;

  @Int64Column({ name: 'revoked_at', nullable: true })
  revokedAt!: number | null;
}
