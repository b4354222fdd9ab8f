import type { ApiKey } from '../keys/api-key.entity.js';
import type { RotatedKey } from '../keys/keys.service.js';
import type { KeyView } from './key-views.js';
import { table } from './output.js';
import { shortened } from './width.js';

/** Of a list, with all columns but the name as wide as they can be. */
const WIDTH_WITHOUT_NAME = 65;
const NARROWEST = 80;

export function describeIssued({ id, name, plan }: ApiKey, key: string): string {
  return `${key}\n\nThe key of ${name} (${id}, plan ${plan}). It is not shown again: keep it now.`;
}

/** Its secret is known to nobody then. */
export function cureOfUnseen({ id }: ApiKey): string {
  return `nobody has seen the key ${id}; petstore keys rotate ${id} --grace 0s issues another in its place`;
}

export function describeRotated({ record, key, replaced }: RotatedKey): string {
  const end = new Date(replaced.expiresAt!).toISOString();
  return `${describeIssued(record, key)}\nIt replaces ${replaced.id}, which ends at ${end}.`;
}

/** One line for each key, no wider than the terminal. */
export function describeKeys(keys: readonly KeyView[], columns = NARROWEST): string {
  if (keys.length === 0) return 'There are no keys.';
  const nameWidth = Math.max(columns, NARROWEST) - WIDTH_WITHOUT_NAME;
  return table(
    ['ID', 'KEY', 'NAME', 'PLAN', 'STATUS', 'LAST USED'],
    keys.map((key) => [
      key.id,
      `...${key.last4}`,
      shortened(key.name, nameWidth),
      key.plan,
      statusOf(key),
      key.lastUsedAt?.slice(0, 'YYYY-MM-DD'.length) ?? 'never',
    ]),
  );
}

export function describeKey(key: KeyView): string {
  return table(
    ['ID', key.id],
    [
      ['Client', key.clientId],
      ['Key', `psk_...${key.last4}`],
      ['Name', key.name],
      ['Plan', `${key.plan} (${key.perMinute} a minute, ${key.perDay} a day)`],
      ['Scopes', key.scopes.join(', ')],
      ['Status', describeStatus(key)],
      ['Created', key.createdAt],
      ['Expires', key.expiresAt ?? 'never'],
      ['Last used', key.lastUsedAt ?? 'never'],
      ...(key.replacedBy === null ? [] : [['Replaced by', key.replacedBy]]),
    ],
  );
}

export function statusOf({ revokedAt, expiresAt, bannedUntil }: KeyView): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  return bannedUntil === null ? 'active' : 'banned';
}

/** Whether it may be used, or since or until when not. */
export function describeStatus(key: KeyView): string {
  const status = statusOf(key);
  if (status === 'banned') return `banned until ${key.bannedUntil}`;
  const since = { revoked: key.revokedAt, expired: key.expiresAt }[status];
  return since === undefined ? status : `${status} ${since}`;
}
