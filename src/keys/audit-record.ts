export type AuditAction =
  | 'key.issue'
  | 'key.rotate'
  | 'key.revoke'
  | 'key.set_plan'
  | 'key.set_scopes'
  | 'key.unban'
  | 'key.ban'
  | 'admin.sign_in'
  | 'admin.issue'
  | 'admin.revoke';

export type ActorType = 'cli' | 'admin' | 'service';

export interface Actor {
  type: ActorType;
  /** `cli:USER`, `admin:NAME` or `service`. */
  name: string;
}

/** On whose behalf something is changed, and by which request, where it was one. */
export interface Initiator {
  actor: Actor;
  address: string | null;
  requestId: string | null;
}

/** The service by itself. */
export const SERVICE: Initiator = {
  actor: { type: 'service', name: 'service' },
  address: null,
  requestId: null,
};

/** Those members that a change is about, as the command line shows them; a secret is never one. */
export type State = Record<string, string | number | readonly string[] | null>;

export interface Change {
  action: AuditAction;
  /** The id of what was changed. */
  target: string;
  /** Null where there was nothing before, or is nothing after. */
  before: State | null;
  after: State | null;
}

/** Who changed what, when and from where. */
export interface AuditRecord {
  id: string;
  /** ISO 8601. */
  at: string;
  action: AuditAction;
  actor: Actor;
  target: string;
  address: string | null;
  requestId: string | null;
  before: State | null;
  after: State | null;
}

/** A time as states tell it. */
export function isoTime(unixMs: number | string | null): string | null {
  return unixMs === null ? null : new Date(Number(unixMs)).toISOString();
}
