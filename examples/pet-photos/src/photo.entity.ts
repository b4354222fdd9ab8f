import { bigintColumn } from 'pet-store-service';
import { Column, Entity, Generated, Index, PrimaryColumn } from 'typeorm';

/** A row describes a photo. Its content is a file. */
@Entity('pet_photos')
@Index('pet_photos_pet_id_id', ['petId', 'id'])
export class Photo {
  @PrimaryColumn({ type: 'bigint', transformer: bigintColumn })
  @Generated('increment')
  id!: bigint;

  @Column({ name: 'pet_id', type: 'bigint', transformer: bigintColumn })
  petId!: bigint;

  /** The name of the file. */
  @Column({ type: 'varchar', length: 36 })
  file!: string;

  /** SHA-256 of the content. */
  @Column({ type: 'varchar', length: 43 })
  digest!: string;

  @Column({ type: 'varchar', length: 10 })
  type!: string;

  @Column({ type: 'integer' })
  bytes!: number;

  @Column({ type: 'integer' })
  width!: number;

  @Column({ type: 'integer' })
  height!: number;

  @Column({ name: 'added_at', type: 'varchar', length: 24 })
  addedAt!: string;
}
