import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';

/** How often one process has answered a client so within an hour. Hours are numbered since the epoch. */
@Entity('usage_hours')
@Index('usage_hours_hour', ['hour'])
export class UsageHour {
  @PrimaryColumn({ name: 'client_id', type: 'varchar', length: 64 })
  clientId!: string;

  @PrimaryColumn({ type: 'bigint', transformer: numberColumn })
  hour!: number;

  /** The process: what it has counted is told by it alone, so that to save it twice changes nothing. */
  @PrimaryColumn({ type: 'varchar', length: 32 })
  writer!: string;

  @PrimaryColumn({ type: 'integer' })
  status!: number;

  /** Of the error; empty where there was none. */
  @PrimaryColumn({ type: 'varchar', length: 64 })
  code!: string;

  @Column({ type: 'bigint', transformer: numberColumn })
  used!: number;
}
