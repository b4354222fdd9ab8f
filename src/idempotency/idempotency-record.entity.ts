import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** The first answer to a request with an `Idempotency-Key`, to be given again. */
@Entity('idempotency_records')
@Index('idempotency_records_created_at', ['createdAt'])
export class IdempotencyRecord {
  @PrimaryColumn({ name: 'key_id', type: 'varchar', length: 32 })
  keyId!: string;

  @PrimaryColumn({ name: 'idempotency_key', type: 'varchar', length: 255 })
  idempotencyKey!: string;

  /** SHA-256 of the body as sent, base64url. */
  @Column({ name: 'body_digest', type: 'varchar', length: 43 })
  bodyDigest!: string;

  @Column({ type: 'text' })
  answer!: string;

  /** The path of what was created, relative to the base address. */
  @Column({ type: 'varchar', length: 255 })
  location!: string;

  @Column({ name: 'created_at', type: 'bigint', transformer: numberColumn })
  createdAt!: number;
}
