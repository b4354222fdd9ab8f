/** The result of one check of `petstore doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** The remedy; null if nothing is wrong. */
  fix: string | null;
}

/** Windows, bans and expiry follow the clock. */
const CLOCK_WARNING_MS = 1_000;
const CLOCK_FAILURE_MS = 5_000;
const CLOCK_FIX = 'synchronize the clocks of all machines with NTP (chrony, systemd-timesyncd)';

function report(status: Finding['status']) {
  return (check: string, detail: string, fix: string | null = null): Finding => {
    return { check, status, detail, fix };
  };
}

export const ok = report('ok');
export const warning = report('warning');
export const failed = report('failed');

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['s', 1_000],
] as const;

function inWords(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms >= 2 * each[1]) ?? ['ms', 1];
  return `${Math.round(ms / size)} ${unit}`;
}

export function checkClock(clock: string, aheadMs: number): Finding {
  const offsetMs = Math.round(Math.abs(aheadMs));
  const relation = aheadMs < 0 ? 'behind' : 'ahead of';
  const detail = `${clock} is ${inWords(offsetMs)} ${relation} this machine`;
  if (offsetMs <= CLOCK_WARNING_MS) return ok('clock', detail);
  const severity = offsetMs > CLOCK_FAILURE_MS ? failed : warning;
  return severity('clock', detail, CLOCK_FIX);
}
