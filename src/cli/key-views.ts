import type { ApiKey } from '../keys/api-key.entity.js';
import { isoTime } from '../keys/audit-record.entity.js';
import type { ListedKey } from '../keys/key-list.js';
import type { RotatedKey } from '../keys/keys.service.js';
import { PLANS } from '../rate-limits/plan.js';
import type { Usage } from '../rate-limits/usage.js';
import { dayEndUnix, minuteEndUnix } from '../time/windows.js';
import type { UseReport } from '../usage/usage-report.js';

// The JSON that the command line prints. Times are ISO 8601, or null if they do not apply.

export type KeyView = ReturnType<typeof keyView>;
export type UsageView = ReturnType<typeof usageView>;

/** A new key; the only view with its secret. */
export function issuedView(record: ApiKey, key: string) {
  const { id, name, plan, createdAt, expiresAt } = record;
  const scopes = record.scopes.split(' ');
  const times = { createdAt: isoTime(createdAt)!, expiresAt: isoTime(expiresAt) };
  return { id, key, name, plan, scopes, ...limitsOf(record), ...times };
}

export function rotatedView({ record, key, replaced }: RotatedKey) {
  const replaces = { id: replaced.id, expiresAt: isoTime(replaced.expiresAt) };
  return { ...issuedView(record, key), replaces };
}

export function keyView(record: ListedKey) {
  const { id, name, plan, clientId, replacedBy } = record;
  return {
    ...{ id, name, plan, scopes: record.scopes.split(' '), ...limitsOf(record) },
    last4: record.lastFour,
    createdAt: isoTime(record.createdAt)!,
    expiresAt: isoTime(record.expiresAt),
    revokedAt: isoTime(record.revokedAt),
    lastUsedAt: isoTime(record.lastUsedAt),
    bannedUntil: isoTime(record.bannedUntilMs),
    ...{ clientId, replacedBy },
  };
}

/** A key with the use of its client: all keys of a client share their quota. */
export function usageView(
  record: ListedKey,
  used: Awaited<ReturnType<Usage['of']>>,
  report: UseReport,
) {
  const { perMinute, perDay } = limitsOf(record);
  return {
    ...keyView(record),
    minute: windowView(perMinute, used.minuteUsed, minuteEndUnix(used.minute)),
    day: windowView(perDay, used.dayUsed, dayEndUnix(used.day)),
    bannedUntil: isoTime(used.bannedUntilMs || null),
    ...report,
  };
}

function windowView(limit: number, used: number, resetUnix: number) {
  return { limit, used, remaining: Math.max(0, limit - used), resetAt: isoTime(resetUnix * 1000)! };
}

function limitsOf({ plan, perMinute, perDay }: ApiKey) {
  return PLANS[plan] ?? { perMinute: perMinute!, perDay: perDay! };
}
