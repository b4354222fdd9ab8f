import { isoTime } from './audit-record.entity.js';
import type { Plans } from '../rate-limits/plan.js';
import type { ApiKey } from './api-key.entity.js';
import type { IssuedKey } from './key-transaction.js';
import type { RotatedKey } from './keys.service.js';

// The JSON of the command line and the admin API. Times are ISO 8601, or null if they do not apply.

export type IssuedView = ReturnType<typeof issuedView>;
export type RotatedView = ReturnType<typeof rotatedView>;
export type KeyView = ReturnType<typeof keyView>;

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

/** @param bannedUntilMs the end of the ban of its client */
export function keyView(record: ApiKey, bannedUntilMs: number | null, plans: Plans) {
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
    bannedUntil: isoTime(bannedUntilMs),
    clientId: record.clientId,
    replacedBy: record.replacedBy,
  };
}

function termsOf(record: ApiKey, plans: Plans) {
  const { name, plan, scopes } = record;
  return { name, plan, scopes: scopes.split(' '), ...plans.limitsOf(record) };
}
