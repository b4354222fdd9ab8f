import { bigintColumn } from 'pet-store-service';
import { Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';

export const ORDER_STATUSES = ['placed', 'completed', 'cancelled'] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

@Entity('store_orders')
@Index('store_orders_status_id', ['status', 'id'])
@Index('store_orders_one_open', ['petId'], { unique: true, where: `"status" = 'placed'` })
export class Order {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  @Generated('increment')
  id!: bigint;

  @Column({ name: 'pet_id', type: 'bigint', transformer: bigintColumn })
  petId!: bigint;

  /** The client that placed the order. It stays the same when the key is rotated. */
  @Column({ name: 'client_id', type: 'varchar', length: 255 })
  clientId!: string;

  @Column({ type: 'varchar', length: 9 })
  status!: OrderStatus;

  @Column({ name: 'placed_at', type: 'varchar', length: 24 })
  placedAt!: string;
}
