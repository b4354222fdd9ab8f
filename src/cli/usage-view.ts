import { isoTime } from '../keys/audit-record.entity.js';
import type { ListedKey } from '../keys/key-list.js';
import { keyView } from '../keys/key-views.js';
import type { CurrentCounts } from '../rate-limits/current-counts.js';
import type { Plans } from '../rate-limits/plan.js';
import { dayEndUnix, minuteEndUnix } from '../time/windows.js';
import type { UseReport } from '../usage/usage-report.js';

export type UsageView = ReturnType<typeof usageView>;

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
