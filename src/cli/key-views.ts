import type { ApiKey } from '../keys/api-key.entity.js';
import type { ListedKey } from '../keys/key-list.js';
import type { RotatedKey } from '../keys/keys.service.js';
import { type PlanName, PLANS } from '../rate-limits/plan.js';
import type { Usage } from '../rate-limits/usage.js';
import type { UseReport } from '../usage/usage-report.js';
import { dayEndUnix, minuteEndUnix } from '../time/windows.js';

/** A key as it is listed: times in ISO 8601, null where they do not apply. */
export interface KeyView {
  id: string;
  name: string;
  plan: PlanName;
  scopes: string[];
  perMinute: number;
  perDay: number;
  last4: string;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
  bannedUntil: string | null;
  /** What its quota is shared with: all keys of one client. */
  clientId: string;
  replacedBy: string | null;
}

export interface WindowView {
  limit: number;
  used: number;
  remaining: number;
  resetAt: string;
}

/** A key, how much of its quotas is used, and what its client got: all of its keys together. */
export interface UsageView extends KeyView, UseReport {
  minute: WindowView;
  day: WindowView;
}

/** What the command line shows of keys, and never more. */
export class KeyViews {
  constructor(private readonly usages: Usage) {}

  rotated({ record, key, replaced }: RotatedKey) {
    const replaces = { id: replaced.id, expiresAt: iso(replaced.expiresAt) };
    return { ...this.issued(record, key), replaces };
  }

  issued(record: ApiKey, key: string) {
    const { id, name, plan, createdAt, expiresAt } = record;
    return {
      id,
      key,
      name,
      plan,
      scopes: record.scopes.split(' '),
      ...limitsOf(record),
      createdAt: iso(createdAt)!,
      expiresAt: iso(expiresAt),
    };
  }

  key(record: ListedKey): KeyView {
    return {
      id: record.id,
      name: record.name,
      plan: record.plan,
      scopes: record.scopes.split(' '),
      ...limitsOf(record),
      last4: record.lastFour,
      createdAt: iso(record.createdAt)!,
      expiresAt: iso(record.expiresAt),
      revokedAt: iso(record.revokedAt),
      lastUsedAt: iso(record.lastUsedAt),
      bannedUntil: iso(record.bannedUntilMs),
      clientId: record.clientId,
      replacedBy: record.replacedBy,
    };
  }

  async usage(record: ListedKey, used: UseReport): Promise<UsageView> {
    const { minute, minuteUsed, day, dayUsed, bannedUntilMs } = await this.usages.of(
      record.clientId,
    );
    const { perMinute, perDay } = limitsOf(record);
    return {
      ...this.key(record),
      minute: window(perMinute, minuteUsed, minuteEndUnix(minute)),
      day: window(perDay, dayUsed, dayEndUnix(day)),
      bannedUntil: iso(bannedUntilMs || null),
      ...used,
    };
  }
}

function window(limit: number, used: number, resetUnix: number): WindowView {
  return { limit, used, remaining: Math.max(0, limit - used), resetAt: iso(resetUnix * 1000)! };
}

function limitsOf({ plan, perMinute, perDay }: ApiKey): { perMinute: number; perDay: number } {
  return PLANS[plan] ?? { perMinute: perMinute!, perDay: perDay! };
}

function iso(unixMs: number | null): string | null {
  return unixMs === null ? null : new Date(unixMs).toISOString();
}
