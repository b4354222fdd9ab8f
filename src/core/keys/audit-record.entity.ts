import { Column, Entity, Index, PrimaryColumn, type ValueTransformer } from 'typeorm';
import { isoTime } from '../time/windows.js';

export const AUDIT_ACTIONS = [
  'key.issue',
  'key.rotate',
  'key.revoke',
  'key.disable',
  'key.enable',
  'key.rename',
  'key.set_plan',
  'key.set_scopes',
  'key.set_expiry',
  'key.set_from',
  'key.ban',
  'key.unban',
  'admin.issue',
  'admin.revoke',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** The members that a change affects, as the command line shows them; never a secret. */
export type State = Record<string, string | number | readonly string[] | null>;

/** Unix milliseconds in the database. */
const isoColumn: ValueTransformer = {
  to: (iso: string) => Date.parse(iso),
  from: (unixMs: number | string) => isoTime(Number(unixMs)),
};

class Actor {
  @Column({ name: 'actor_type', type: 'varchar', length: 16 })
  type!: 'cli' | 'admin' | 'key' | 'service';

  /** `cli:USER`, `admin:NAME`, `service`, or the id of a key. */
  @Column({ name: 'actor_name', length: 261 })
  name!: string;
}

/** A change of a key or an admin token, or a ban. It is never changed itself. */
@Entity('audit_records')
@Index('audit_records_at', ['at'])
@Index('audit_records_action', ['action', 'at'])
@Index('audit_records_actor', ['actor.name', 'at'])
@Index('audit_records_target', ['target', 'at'])
export class AuditRecord {
  @PrimaryColumn({ length: 32 })
  id!: string;

  /**
   * ISO 8601, by the clock of the database once the client of the key is locked. Each change of a
   * key has a later time than the one before it.
   */
  @Column({ type: 'bigint', transformer: isoColumn })
  at!: string;

  @Column({ type: 'varchar', length: 32 })
  action!: AuditAction;

  @Column(() => Actor, { prefix: false })
  actor!: Actor;

  /** The id of the changed key or admin token. */
  @Column({ length: 64 })
  target!: string;

  @Column({ type: 'varchar', length: 64, nullable: true })
  address!: string | null;

  @Column({ name: 'request_id', type: 'varchar', length: 128, nullable: true })
  requestId!: string | null;

  /** Null if the target is new. */
  @Column({ type: 'simple-json', nullable: true })
  before!: State | null;

  @Column({ type: 'simple-json', nullable: true })
  after!: State | null;
}

export type AuditedChange = Pick<AuditRecord, 'action' | 'target' | 'before' | 'after'>;

/** The actor of a change, and the request that led to it, if one did. */
export type Initiator = Pick<AuditRecord, 'actor' | 'address' | 'requestId'>;

export const SERVICE: Initiator = {
  actor: { type: 'service', name: 'service' },
  address: null,
  requestId: null,
};
