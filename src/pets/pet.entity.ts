import { Check, Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';
import { bigintColumn } from '../core/database/columns.js';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
/** One of the statuses of a pet. */
export type PetStatus = (typeof PET_STATUSES)[number];

// Migrations are written by hand: TypeORM cannot describe the generated int64 ids of both engines
// in one entity. With `synchronize: false`, `migration:generate` of an extension ignores the table.
/** A pet: the entity for joins and foreign keys. */
@Entity('pets', { synchronize: false })
@Index('pets_status_id', ['status', 'id'])
@Check('pets_status_known', `"status" IN ('available', 'pending', 'sold')`)
export class Pet {
  /** Assigned by the database; strictly increasing, never reused. */
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  @Generated('increment')
  id!: bigint;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ name: 'category_id', type: 'bigint', transformer: bigintColumn })
  categoryId!: bigint;

  /** Null if the pet has none: responses then have no `status`, and no filter selects the pet. */
  @Column({ type: 'varchar', length: 9, nullable: true })
  status!: PetStatus | null;
}
