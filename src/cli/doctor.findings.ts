import { CLOCK_FIX } from '../core/config/fixes.js';
import { withoutKeys } from '../core/errors/api-error.js';

/** The result of one check of `petstore doctor`. */
export interface Finding {
  check: string;
  status: 'ok' | 'warning' | 'failed';
  detail: string;
  /** The remedy; null if nothing is wrong. */
  fix: string | null;
}

/** Windows, bans and expiry follow the clock. The measurement itself may take a second. */
const MAX_OFFSET_MS = 2_000;

function report(status: Finding['status']) {
  return (check: string, detail: string, fix: string | null = null): Finding => {
    return { check, status, detail: withoutKeys(detail), fix: fix && withoutKeys(fix) };
  };
}

export const ok = report('ok');
export const warning = report('warning');
export const failed = report('failed');

export function checkClock(clock: string, aheadMs: number): Finding {
  const offsetMs = Math.abs(aheadMs);
  const seconds = (offsetMs / 1_000).toFixed(1);
  const relation = aheadMs < 0 ? 'behind' : 'ahead of';
  const detail = `${clock} is ${seconds} s ${relation} this machine`;
  return offsetMs < MAX_OFFSET_MS ? ok('clock', detail) : failed('clock', detail, CLOCK_FIX);
}
