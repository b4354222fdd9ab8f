import type { ApiKey } from '../keys/api-key.entity.js';
import { isoTime } from '../keys/audit-record.entity.js';
import type { ListedKey } from '../keys/key-list.js';
import type { IssuedKey, RotatedKey } from '../keys/keys.service.js';
import type { Plans } from '../rate-limits/plan.js';
import type { CurrentCounts } from '../rate-limits/current-counts.js';
import { dayEndUnix, minuteEndUnix } from '../time/windows.js';
import type { UseReport } from '../usage/usage-report.js';

// The JSON that the command line prints. Times are ISO 8601, or null if they do not apply.

export type IssuedView = ReturnType<typeof issuedView>;
export type RotatedView = ReturnType<typeof rotatedView>;
export type KeyView = ReturnType<typeof keyView>;
export type UsageView = ReturnType<typeof usageView>;

/** A new key; the only view with its secret. */
export function issuedView({ record, key }: IssuedKey, plans: Plans) {
  return {
    id: record.id,
    key,
    ...termsOf(record, plans),
    createdAt: isoTime(record.createdAt)!,
    expiresAt: isoTime(record.expiresAt),
  };
}

export function rotatedView(rotated: RotatedKey, plans: Plans) {
  const { id, expiresAt } = rotated.replaced;
  return { ...issuedView(rotated, plans), replaces: { id, expiresAt: isoTime(expiresAt) } };
}

export function keyView(record: ListedKey, plans: Plans) {
  return {
    id: record.id,
    ...termsOf(record, plans),
    last4: record.lastFour,
    createdAt: isoTime(record.createdAt)!,
    expiresAt: isoTime(record.expiresAt),
    revokedAt: isoTime(record.revokedAt),
    disabledAt: isoTime(record.disabledAt),
    lastUsedAt: isoTime(record.lastUsedAt),
    lastUsedFrom: record.lastUsedFrom,
    bannedUntil: isoTime(record.bannedUntilMs),
    clientId: record.clientId,
    replacedBy: record.replacedBy,
  };
}

/** A key with the use of its client: all keys of a client share their quota. */
export function usageView(
  record: ListedKey,
  used: Awaited<ReturnType<CurrentCounts['of']>>,
  report: UseReport,
  plans: Plans,
) {
  const view = keyView(record, plans);
  return {
    ...view,
    minute: windowView(view.perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
    day: windowView(view.perDay, used.dayUsed, dayEndUnix(used.day)),
    bannedUntil: isoTime(used.bannedUntilMs || null),
    ...report,
  };
}

function windowView(limit: number, used: number, resetUnix: number) {
  return { limit, used, remaining: Math.max(0, limit - used), resetAt: isoTime(resetUnix * 1000)! };
}

function termsOf(record: ApiKey, plans: Plans) {
  const { name, plan, scopes } = record;
  return { name, plan, scopes: scopes.split(' '), ...plans.limitsOf(record) };
}
