export type AuditAction =
  `key.${'issue' | 'rotate' | 'revoke' | 'set_plan' | 'set_scopes' | 'unban' | 'ban'}`;

export type ActorType = 'cli' | 'service';

/** The actor of a change, and the request that led to it, if one did. */
export interface Initiator {
  /** The name is `cli:USER` or `service`. */
  actor: { type: ActorType; name: string };
  address: string | null;
  requestId: string | null;
}

export const SERVICE: Initiator = {
  actor: { type: 'service', name: 'service' },
  address: null,
  requestId: null,
};

/** The members that a change affects, as the command line shows them; never a secret. */
export type State = Record<string, string | number | readonly string[] | null>;

export interface Change {
  action: AuditAction;
  /** The id of the changed key. */
  target: string;
  /** Null if the target is new. */
  before: State | null;
  after: State | null;
}

export interface AuditRecord extends Initiator, Change {
  id: string;
  /** ISO 8601. */
  at: string;
}

/** Formats a time as audit records show it. */
export function isoTime(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
