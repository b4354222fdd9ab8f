import { PLANS, type PlanName } from '../rate-limits/plan.js';

/** A request that makes no sense for any key: a usage error of the command line. */
export class KeyRequestError extends Error {}

/** Limits of a key itself: required with the plan enterprise, and not allowed with any other. */
export interface OwnLimits {
  perMinute?: number | undefined;
  perDay?: number | undefined;
}

/** Returns the plan and limits to store. @throws {KeyRequestError} */
export function planOf(plan: PlanName, { perMinute, perDay }: OwnLimits) {
  if (PLANS[plan] === undefined) {
    if (perMinute === undefined || perDay === undefined) {
      throw new KeyRequestError(`the plan ${plan} requires --per-minute and --per-day`);
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new KeyRequestError(`the plan ${plan} does not accept --per-minute or --per-day`);
  }
  return { plan, perMinute: null, perDay: null };
}
