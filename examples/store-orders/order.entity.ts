import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('store_orders')
export class Order {
  @PrimaryColumn({ type: 'varchar', length: 36 })
  id!: string;

  @Column({ name: 'pet_id', type: 'integer' })
  petId!: number;

  @Column({ type: 'integer' })
  quantity!: number;
}
