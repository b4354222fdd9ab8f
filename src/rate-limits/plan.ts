import { Limits } from './limits.js';

/** Requests per minute and per day. `undefined`: agreed with the client, and stored with the key. */
export const PLANS = {
  free: new Limits(60, 1_000),
  pro: new Limits(300, 10_000),
  business: new Limits(1_000, 100_000),
  enterprise: undefined,
} as const satisfies Record<string, Limits | undefined>;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as PlanName[];
