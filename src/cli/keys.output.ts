import type { AuditRecord, State } from '../core/keys/audit-record.entity.js';
import type { IssuedKeyDto, Key, ReplacingKeyDto } from '../core/keys/key.dto.js';
import type { RejectedOfClient } from '../account/usage.dto.js';
import { table } from './output.js';

/** A key with the use of its client. */
export interface UsageView extends Key {
  minute: Window;
  day: Window;
  outcomes: Record<string, number>;
  rejected: readonly RejectedOfClient[];
}
type Window = Record<'used' | 'limit' | 'remaining', number> & { resetAt: string };

export function issued({ id, name, plan }: IssuedKeyDto): string {
  return `Key ${id} for ${name}, plan ${plan}. Store it now: it is not shown again.`;
}

export function rotated(view: ReplacingKeyDto): string {
  const { id, expiresAt } = view.replaces;
  return `${issued(view)}\nIt replaces ${id}, which expires at ${expiresAt}.`;
}

export function keys(list: readonly Key[]): string {
  if (list.length === 0) return 'No keys found.';
  const rows = list.map((view) => [
    view.id,
    `...${view.last4}`,
    view.plan,
    statusOf(view),
    timeText(view.expiresAt),
    timeText(view.lastUsedAt),
    view.name,
  ]);
  return table('ID,KEY,PLAN,STATUS,EXPIRES,LAST USED,NAME', rows);
}

function timeText(iso: string | null): string {
  return iso === null ? 'never' : iso.replace(/\.\d+/, '');
}

export function key({ id, ...members }: Key): string {
  const rows = Object.entries(members).map(([name, value]) => [name, valueText(value)]);
  return table(`id,${id}`, rows);
}

/** The key, its two windows, and the outcomes and latest rejected requests of its client. */
export function usage({ minute, day, outcomes, rejected, ...view }: UsageView): string {
  const windows = Object.entries({ minute, day }).map(
    ([name, { used, limit, remaining, resetAt }]) => [name, used, limit, remaining, resetAt],
  );
  const latest = rejected.map(({ at, firstAt, count, code, window, operation, address, keyId }) => [
    timeText(at),
    timeText(firstAt),
    count,
    code,
    window ?? '',
    operation,
    address,
    keyId,
  ]);
  return [
    key(view),
    table('WINDOW,USED,LIMIT,LEFT,RESETS', windows),
    table('LAST 24 HOURS,REQUESTS', Object.entries(outcomes)),
    table('LAST REJECTED,FIRST,COUNT,CODE,WINDOW,OPERATION,ADDRESS,KEY', latest),
  ].join('\n\n');
}

export function audit(records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'No records found.';
  const rows = records.map(({ at, action, actor, target, before, after }) => {
    const by = actor.type === 'key' ? `key:${actor.name}` : actor.name;
    return [at, action, by, target, changeText(before, after)];
  });
  return table('AT,ACTION,BY,TARGET,CHANGE', rows);
}

function changeText(before: State | null, after: State | null): string {
  return Object.entries(after ?? {})
    .map(([name, value]) => `${name}: ${valueText(before?.[name])} -> ${valueText(value)}`)
    .join(', ');
}

/** Only `allowedFrom` can be an empty list. */
function valueText(value: State[string] | undefined): string {
  return value === null || value === undefined ? 'none' : [value].flat().join(' ') || 'any';
}

function statusOf({ revokedAt, expiresAt, disabledAt, bannedUntil }: Key): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  if (disabledAt !== null) return 'disabled';
  return bannedUntil === null ? 'active' : 'banned';
}
