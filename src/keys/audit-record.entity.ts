import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { numberColumn } from '../database/columns.js';
import type { ActorType, AuditAction, State } from './audit-record.js';

/** An audit record as stored. It is never changed. */
@Entity('audit_records')
@Index('audit_records_at', ['at'])
@Index('audit_records_target', ['target', 'at'])
export class StoredAuditRecord {
  @PrimaryColumn({ type: 'varchar', length: 32 })
  id!: string;

  /** Unix milliseconds, by the clock of the database. */
  @Column({ type: 'bigint', transformer: numberColumn })
  at!: number;

  @Column({ type: 'varchar', length: 32 })
  action!: AuditAction;

  @Column({ name: 'actor_type', type: 'varchar', length: 16 })
  actorType!: ActorType;

  @Column({ name: 'actor_name', type: 'varchar', length: 255 })
  actorName!: string;

  @Column({ type: 'varchar', length: 64 })
  target!: string;

  @Column({ type: 'varchar', length: 64, nullable: true })
  address!: string | null;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId!: string | null;

  @Column({ type: 'simple-json', nullable: true })
  before!: State | null;

  @Column({ type: 'simple-json', nullable: true })
  after!: State | null;
}
