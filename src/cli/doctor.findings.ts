/** The result of one check of `petstore doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** What to do about it; null if nothing is wrong. */
  fix: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, fix: null };
}

export function warning(check: string, detail: string, fix: string): Finding {
  return { check, status: 'warning', detail, fix };
}

export function failed(check: string, detail: string, fix: string): Finding {
  return { check, status: 'failed', detail, fix };
}

/** Windows, bans and expiry follow the clock. */
const WARN_AFTER_MS = 1_000;
const FAIL_AFTER_MS = 5_000;
const FIX = 'synchronize the clocks of all machines with NTP (chrony, systemd-timesyncd)';

export function checkClock(offsetMs: number, detail: string): Finding {
  const off = Math.abs(offsetMs);
  if (off > FAIL_AFTER_MS) return failed('clock', detail, FIX);
  return off > WARN_AFTER_MS ? warning('clock', detail, FIX) : ok('clock', detail);
}

export function describeOffset(clock: string, aheadMs: number): string {
  const off = Math.round(Math.abs(aheadMs));
  return `${clock} is ${off} ms ${aheadMs < 0 ? 'behind' : 'ahead'}`;
}
