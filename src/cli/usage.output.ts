import type { HourReport } from '../usage/usage-report.js';
import { DAY_MS, HOUR_MS } from '../time/windows.js';
import { barChart } from './bars.js';
import { curesOf } from './cures.js';
import type { UsageView, WindowView } from './key-views.js';
import { describeStatus } from './keys.output.js';
import { table } from './output.js';

const HOURS = 24;
const DAYS = 30;
/** Both charts are no wider than 80 columns. */
const HOURLY = { width: 3, labelled: 1 };
const DAILY = { width: 2, labelled: 5 };
const SECONDS = 'YYYY-MM-DDTHH:MM:SS'.length;

/** How much a key may, what was asked with it, and why some of that was refused. */
export function describeUsage(usage: UsageView, nowMs: number, colours: boolean): string {
  const cures = curesOf(usage);
  return [
    whoseIs(usage),
    windowsOf(usage),
    ...describeUse(usage, nowMs, colours),
    ...(cures.length === 0 ? [] : [['WHAT HELPS', ...cures].join('\n')]),
  ].join('\n\n');
}

function whoseIs(usage: UsageView): string {
  const { id, clientId, name, plan, scopes, replacedBy } = usage;
  return table(
    ['ID', id],
    [
      ['Name', name],
      ...(clientId === id ? [] : [['Client', clientId]]),
      ['Plan', plan],
      ['Scopes', scopes.join(', ')],
      ['Status', describeStatus(usage)],
      ...(replacedBy === null ? [] : [['Replaced by', replacedBy]]),
    ],
  );
}

function windowsOf({ minute, day }: UsageView): string {
  const row = (name: string, { used, limit, remaining, resetAt }: WindowView) => [
    name,
    String(used),
    String(limit),
    String(remaining),
    resetAt,
  ];
  return table(
    ['WINDOW', 'USED', 'LIMIT', 'LEFT', 'RESETS'],
    [row('minute', minute), row('day', day)],
  );
}

/** What the client asked, all of its keys together, and what became of it: where some was refused, why. */
function describeUse(
  { hours, outcomes, refusals }: UsageView,
  nowMs: number,
  colours: boolean,
): string[] {
  const latest =
    refusals.length === 0
      ? []
      : [
          table(
            ['LATEST REFUSALS', 'CODE', 'OPERATION', 'ADDRESS'],
            refusals.map(({ at, code, operation, address }) => [
              `${at.slice(0, SECONDS)}Z`,
              code,
              operation,
              address,
            ]),
          ),
        ];
  if (hours.length === 0) return [`Nothing was asked in the last ${DAYS} days.`, ...latest];
  const daily = barChart('LAST 30 DAYS (UTC)', daysOf(hours, nowMs), { ...DAILY, colours });
  if (outcomes.length === 0) return [daily, 'Nothing was asked in the last 24 hours.', ...latest];
  const counts = table(
    ['LAST 24 HOURS', 'STATUS', 'REQUESTS'],
    outcomes.map(({ code, status, requests }) => [code ?? 'ok', String(status), String(requests)]),
  );
  const hourly = barChart('LAST 24 HOURS (UTC)', hoursOf(hours, nowMs), { ...HOURLY, colours });
  return [daily, hourly, counts, ...latest];
}

function hoursOf(hours: readonly HourReport[], nowMs: number) {
  return sumsOf(hours, nowMs, { stepMs: HOUR_MS, count: HOURS, label: (iso) => iso.slice(11, 13) });
}

function daysOf(hours: readonly HourReport[], nowMs: number) {
  return sumsOf(hours, nowMs, { stepMs: DAY_MS, count: DAYS, label: (iso) => iso.slice(5, 10) });
}

interface Steps {
  stepMs: number;
  count: number;
  label: (iso: string) => string;
}

/** By steps up to now; where nothing was asked, zero. */
function sumsOf(hours: readonly HourReport[], nowMs: number, { stepMs, count, label }: Steps) {
  const first = Math.floor(nowMs / stepMs) - count + 1;
  const sums = Array.from({ length: count }, (_none, index) => ({
    label: label(new Date((first + index) * stepMs).toISOString()),
    admitted: 0,
    refused: 0,
  }));
  for (const { hour, admitted, refused } of hours) {
    const sum = sums[Math.floor(Date.parse(hour) / stepMs) - first];
    if (sum === undefined) continue;
    sum.admitted += admitted;
    sum.refused += refused;
  }
  return sums;
}
