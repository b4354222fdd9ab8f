import { Check, Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';
import { bigintColumn } from '../database/columns.js';

export const PET_STATUSES = ['available', 'pending', 'sold'] as const;
export type PetStatus = (typeof PET_STATUSES)[number];

// TypeORM cannot describe both engines' generated int64 ids in one entity, so migrations are written by hand, and
// `migration:generate` of an extension leaves the table alone.
@Entity('pets', { synchronize: false })
@Index('pets_status_id', ['status', 'id'])
@Check('pets_status_known', `"status" IN ('available', 'pending', 'sold')`)
export class Pet {
  /** Assigned on creation; ever growing, never used again. */
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  @Generated('increment')
  id!: bigint;

  @Column({ type: 'varchar', length: 255 })
  name!: string;

  @Column({ name: 'category_id', type: 'bigint', transformer: bigintColumn })
  categoryId!: bigint;

  /** Null where the caller left it out: then no response has it, and no filter selects it. */
  @Column({ type: 'varchar', length: 9, nullable: true })
  status!: PetStatus | null;
}
