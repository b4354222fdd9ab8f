import type { Plans } from '../rate-limits/plan.js';
import { isoTime } from '../time/windows.js';
import type { ApiKey } from './api-key.entity.js';
import { addressesOf } from './allowed-from.js';
import type { IssuedKeyDto, Key, ReplacingKeyDto } from './key.dto.js';
import type { IssuedKey } from './key-transaction.js';
import type { RotatedKey } from './keys.service.js';

export function issuedView({ record, key }: IssuedKey, plans: Plans): IssuedKeyDto {
  const { id, createdAt, expiresAt } = record;
  const terms = termsOf(record, plans);
  return { id, key, ...terms, createdAt: isoTime(createdAt), expiresAt: isoTime(expiresAt) };
}

export function rotatedView(rotated: RotatedKey, plans: Plans): ReplacingKeyDto {
  const { id, expiresAt } = rotated.replaced;
  // The old key of a rotation always has an end.
  return { ...issuedView(rotated, plans), replaces: { id, expiresAt: isoTime(expiresAt!) } };
}

/** @param bannedUntilMs the end of the ban of its client */
export function keyView(record: ApiKey, bannedUntilMs: number | null, plans: Plans): Key {
  return {
    id: record.id,
    ...termsOf(record, plans),
    last4: record.lastFour,
    createdAt: isoTime(record.createdAt),
    expiresAt: isoTime(record.expiresAt),
    revokedAt: isoTime(record.revokedAt),
    disabledAt: isoTime(record.disabledAt),
    lastUsedAt: isoTime(record.lastUsedAt),
    lastUsedFrom: record.lastUsedFrom,
    bannedUntil: isoTime(bannedUntilMs),
    allowedFrom: addressesOf(record),
    clientId: record.clientId,
    replacedBy: record.replacedBy,
  };
}

function termsOf(record: ApiKey, plans: Plans) {
  const { name, plan, scopes } = record;
  return { name, plan, scopes: scopes.split(' '), ...plans.limitsOf(record) };
}
