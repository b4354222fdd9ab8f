import type { ApiKey } from '../keys/api-key.entity.js';
import type { KeyView, UsageView, WindowView } from './key-views.js';
import { table } from './output.js';

export function describeIssued({ id, name, plan }: ApiKey, key: string): string {
  return `${key}\n\nThe key of ${name} (${id}, plan ${plan}). It is not shown again: keep it now.`;
}

export function describeKeys(keys: readonly KeyView[]): string {
  if (keys.length === 0) return 'There are no keys.';
  return table(
    ['ID', 'KEY', 'NAME', 'PLAN', 'STATE', 'CREATED', 'LAST USED'],
    keys.map((key) => [
      key.id,
      `psk_...${key.last4}`,
      key.name,
      key.plan,
      stateOf(key),
      key.createdAt,
      key.lastUsedAt ?? 'never',
    ]),
  );
}

export function describeKey(key: KeyView): string {
  return table(
    ['ID', key.id],
    [
      ['Key', `psk_...${key.last4}`],
      ['Name', key.name],
      ['Plan', `${key.plan} (${key.perMinute} a minute, ${key.perDay} a day)`],
      ['Scopes', key.scopes.join(', ')],
      ['State', stateOf(key)],
      ['Created', key.createdAt],
      ['Expires', key.expiresAt ?? 'never'],
      ['Last used', key.lastUsedAt ?? 'never'],
    ],
  );
}

export function describeUsage({ minute, day, bannedUntil }: UsageView): string {
  const row = (name: string, { used, limit, remaining, resetAt }: WindowView) => [
    name,
    String(used),
    String(limit),
    String(remaining),
    resetAt,
  ];
  const windows = table(
    ['WINDOW', 'USED', 'LIMIT', 'LEFT', 'RESETS'],
    [row('minute', minute), row('day', day)],
  );
  return bannedUntil === null ? windows : `${windows}\nBanned until ${bannedUntil}.`;
}

function stateOf({ revokedAt, expiresAt, bannedUntil }: KeyView): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return `expired ${expiresAt}`;
  if (bannedUntil !== null) return `banned until ${bannedUntil}`;
  return 'valid';
}
