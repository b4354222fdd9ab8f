import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { Int64Column } from '../database/columns.js';

/** The response to the first request with an `Idempotency-Key`. */
@Entity('idempotency_records')
@Index('idempotency_records_created_at', ['createdAt'])
export class IdempotencyRecord {
  /** The rate-limit key of the client: it survives a rotation, and no verifier can choose it. */
  @PrimaryColumn({ name: 'client_id', length: 32 })
  clientId!: string;

  @PrimaryColumn({ name: 'idempotency_key', length: 255 })
  idempotencyKey!: string;

  /** SHA-256 of the method, the target and the body as sent, base64url. */
  @Column({ name: 'body_digest', length: 43 })
  bodyDigest!: string;

  /** JSON text; empty for a response without a body, and until the handler has returned. */
  @Column({ type: 'text' })
  response!: string;

  @Int64Column({ name: 'created_at' })
  createdAt!: number;
}
