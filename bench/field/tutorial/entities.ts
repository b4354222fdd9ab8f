import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('pets')
export class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ name: 'category_id' })
  categoryId!: number;

  @Column({ type: 'varchar', nullable: true })
  status!: string | null;
}

@Entity('api_keys')
export class ApiKey {
  @PrimaryColumn()
  id!: string;

  @Column()
  digest!: string;
}
