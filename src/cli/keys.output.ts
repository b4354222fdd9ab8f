import type { ApiKey } from '../keys/api-key.entity.js';
import type { AuditRecord, State } from '../keys/audit-record.js';
import type { RotatedKey } from '../keys/keys.service.js';
import type { KeyView, UsageView } from './key-views.js';
import { table } from './output.js';

const MIN_COLUMNS = 80;
/** Width of a list without the name. */
const OTHER_COLUMNS = 65;
const SECONDS = 'YYYY-MM-DDTHH:MM:SS'.length;

export function issued({ id, name, plan }: ApiKey, secret: string): string {
  return `${secret}\n\nKey ${id} for ${name}, plan ${plan}. Store it now: it is not shown again.`;
}

export function rotated({ record, key, replaced }: RotatedKey): string {
  const end = new Date(replaced.expiresAt!).toISOString();
  return `${issued(record, key)}\nIt replaces ${replaced.id}, which expires at ${end}.`;
}

/** One line per key; long names are cut off at the width of the terminal. */
export function keys(list: readonly KeyView[], columns = MIN_COLUMNS): string {
  if (list.length === 0) return 'No keys found.';
  const nameWidth = Math.max(columns, MIN_COLUMNS) - OTHER_COLUMNS;
  const isLong = list.some(({ name }) => name.length > nameWidth);
  return table(
    ['ID', 'KEY', 'NAME', 'PLAN', 'STATUS', 'LAST USED'],
    list.map((each) => [
      each.id,
      `...${each.last4}`,
      each.name,
      each.plan,
      statusOf(each),
      each.lastUsedAt?.slice(0, 'YYYY-MM-DD'.length) ?? 'never',
    ]),
    isLong ? [null, null, nameWidth] : [],
  );
}

export function key(view: KeyView): string {
  return table(
    ['ID', view.id],
    [
      ['Client', view.clientId],
      ['Key', `psk_...${view.last4}`],
      ['Name', view.name],
      ['Plan', `${view.plan} (${view.perMinute} per minute, ${view.perDay} per day)`],
      ['Scopes', view.scopes.join(', ')],
      ['Status', describeStatus(view)],
      ['Created', view.createdAt],
      ['Expires', view.expiresAt ?? 'never'],
      ['Last used', view.lastUsedAt ?? 'never'],
      ...(view.replacedBy === null ? [] : [['Replaced by', view.replacedBy]]),
    ],
  );
}

/** The key, its two windows, and the outcomes and latest refusals of its client. */
export function usage(view: UsageView): string {
  const { minute, day, outcomes, refusals } = view;
  const row = (name: string, { used, limit, remaining, resetAt }: UsageView['day']) =>
    [name, used, limit, remaining, resetAt].map(String);
  const windows = table(
    ['WINDOW', 'USED', 'LIMIT', 'LEFT', 'RESETS'],
    [row('minute', minute), row('day', day)],
  );
  const requests = table(
    ['LAST 24 HOURS', 'STATUS', 'REQUESTS'],
    outcomes.map(({ code, status, requests }) => [code ?? 'ok', String(status), String(requests)]),
  );
  const latest = table(
    ['LATEST REFUSALS', 'CODE', 'OPERATION', 'ADDRESS'],
    refusals.map(({ at, code, operation, address }) => [
      `${at.slice(0, SECONDS)}Z`,
      code,
      operation,
      address,
    ]),
  );
  return [
    key(view),
    windows,
    outcomes.length === 0 ? 'No requests in the last 24 hours.' : requests,
    ...(refusals.length === 0 ? [] : [latest]),
  ].join('\n\n');
}

export function audit(records: readonly AuditRecord[]): string {
  if (records.length === 0) return 'No records found.';
  return table(
    ['AT', 'ACTION', 'BY', 'TARGET', 'CHANGE'],
    records.map(({ at, action, actor, target, before, after }) => [
      at,
      action,
      actor.name,
      target,
      describeChange(before, after),
    ]),
  );
}

function describeChange(before: State | null, after: State | null): string {
  return Object.entries(after ?? {})
    .map(([name, value]) => {
      const old = before === null || !(name in before) ? '' : `${valueText(before[name])} -> `;
      return `${name}: ${old}${valueText(value)}`;
    })
    .join(', ');
}

function valueText(value: State[string] | undefined): string {
  return value === null || value === undefined ? 'none' : [value].flat().join(' ');
}

function statusOf({ revokedAt, expiresAt, bannedUntil }: KeyView) {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt !== null && Date.parse(expiresAt) <= Date.now()) return 'expired';
  return bannedUntil === null ? 'active' : 'banned';
}

function describeStatus(key: KeyView): string {
  const times = {
    revoked: ` ${key.revokedAt}`,
    expired: ` ${key.expiresAt}`,
    banned: ` until ${key.bannedUntil}`,
    active: '',
  };
  const status = statusOf(key);
  return status + times[status];
}
