import { bigintColumn } from 'pet-store-service';
import { Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';

/** One event for one endpoint. A delivered one is deleted. */
@Entity('webhook_deliveries')
@Index('webhook_deliveries_next', ['status', 'nextAt', 'id'])
@Index('webhook_deliveries_due', ['endpoint', 'status', 'nextAt'])
export class Delivery {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  @Generated('increment')
  id!: bigint;

  /** `webhook-id`: the same for every attempt, so that a receiver can detect repeats. */
  @Column({ name: 'message_id', type: 'varchar', length: 40 })
  messageId!: string;

  @Column({ type: 'varchar', length: 2048 })
  endpoint!: string;

  @Column({ type: 'text' })
  payload!: string;

  @Column({ type: 'varchar', length: 7 })
  status!: 'pending' | 'dead';

  @Column({ type: 'integer' })
  attempts!: number;

  @Column({ name: 'created_at', type: 'varchar', length: 24 })
  createdAt!: string;

  /** No attempt is made before this time. The end of a dead delivery. */
  @Column({ name: 'next_at', type: 'varchar', length: 24 })
  nextAt!: string;

  @Column({ name: 'last_error', type: 'varchar', length: 255, nullable: true })
  lastError!: string | null;
}
