import { PLANS, type PlanName } from '../rate-limits/plan.js';

/** What was asked for makes no sense for any key: a usage error. */
export class KeyRequestError extends Error {}

/** Limits of a key's own: with the plan enterprise required, with any other not allowed. */
export interface OwnLimits {
  perMinute?: number | undefined;
  perDay?: number | undefined;
}

/** What is kept of a plan. @throws {KeyRequestError} */
export function planOf(plan: PlanName, { perMinute, perDay }: OwnLimits) {
  const given = perMinute !== undefined || perDay !== undefined;
  if (PLANS[plan] === undefined) {
    if (perMinute === undefined || perDay === undefined) {
      throw new KeyRequestError(`The plan ${plan} needs --per-minute and --per-day`);
    }
    return { plan, perMinute, perDay };
  }
  if (given) throw new KeyRequestError(`The plan ${plan} takes neither --per-minute nor --per-day`);
  return { plan, perMinute: null, perDay: null };
}

/** @throws {KeyRequestError} for a key that would have ended before it begins */
export function assertAhead(expiresAt: number | undefined, nowMs: number): void {
  if (expiresAt !== undefined && expiresAt <= nowMs) {
    throw new KeyRequestError(`A key cannot expire in the past (${iso(expiresAt)})`);
  }
}

function iso(unixMs: number): string {
  return new Date(unixMs).toISOString();
}
