import { Column, Entity, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** When a key was used last. */
@Entity('api_key_uses', { withoutRowid: true })
export class ApiKeyUse {
  @PrimaryColumn({ name: 'key_id', type: 'varchar', length: 32 })
  keyId!: string;

  /** Unix milliseconds. */
  @Column({ name: 'used_at', type: 'bigint', transformer: numberColumn })
  usedAt!: number;
}
