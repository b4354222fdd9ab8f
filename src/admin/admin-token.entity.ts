import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** A token of the admin API as stored. Times are Unix milliseconds. */
@Entity('admin_tokens')
@Index('admin_tokens_digest', ['digest'], { unique: true })
export class AdminToken {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  id!: string;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  /** SHA-256 of the token in base64url. */
  @Column({ type: 'varchar', length: 43 })
  digest!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: numberColumn })
  createdAt!: number;

  @Column({ name: 'revoked_at', type: 'bigint', nullable: true, transformer: numberColumn })
  revokedAt!: number | null;
}
