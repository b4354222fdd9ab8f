import { ConfigError } from '../config/config.js';
import { IsInteger, shapeFaults } from '../config/settings.js';
import { errors, serviceUnavailable } from '../errors/errors.js';
import { type Limits, MAX_QUOTA } from './limits.js';

/** Limits of a key itself: required with the plan enterprise, and not allowed with any other. */
export interface OwnLimits {
  perMinute?: number | null | undefined;
  perDay?: number | null | undefined;
}

/** Limits by the name of a plan. */
export type OwnPlans = Readonly<Record<string, Limits>>;

/** The plan whose limits are agreed with the client, and stored with the key. */
export const ENTERPRISE = 'enterprise';
const STANDARD: OwnPlans = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
};
/** The member of a response. The document also lists the plans of the configuration. */
export const PLAN = {
  description: 'The plan of the key.',
  enum: Object.keys(STANDARD),
  example: 'free',
};
/** The length of the column. */
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** The plans of the service and of its configuration. */
export class Plans {
  readonly names: readonly string[];
  private readonly limits: OwnPlans;

  /**
   * @param own more plans, and other limits of Free, Pro and Business
   * @throws {ConfigError} if a name or a limit is invalid
   */
  constructor(own: OwnPlans = {}) {
    const faults = Object.entries(own).flatMap(([name, limits]) =>
      [...nameFaults(name), ...shapeFaults(PlanLimits, limits)].map(
        (fault) => `plan "${name}": ${fault}`,
      ),
    );
    if (faults.length > 0) throw new ConfigError(faults);
    this.limits = { ...STANDARD, ...own };
    this.names = [...Object.keys(this.limits), ENTERPRISE];
  }

  /** @returns undefined for enterprise, and for a plan that does not exist */
  of(name: string): Limits | undefined {
    return Object.hasOwn(this.limits, name) ? this.limits[name] : undefined;
  }

  /** @throws {ApiError} 400 `invalid_request` */
  assertExists(name: string): void {
    if (this.names.includes(name)) return;
    throw errors.invalid_request(`unknown plan ${name}; plans are ${this.names.join(', ')}`);
  }

  /** The limits of a key: its plan's, or its own. Both are null if the plan is unknown. */
  limitsOf({ plan, perMinute, perDay }: { plan: string } & OwnLimits): Limits {
    return this.of(plan) ?? { perMinute: perMinute!, perDay: perDay! };
  }

  /**
   * Returns the plan and limits to store.
   * @throws {ApiError} 400 `invalid_request` if they do not fit together
   */
  choose(plan: string, { perMinute = null, perDay = null }: OwnLimits) {
    this.assertExists(plan);
    const hasOwnLimits = plan === ENTERPRISE;
    if (hasOwnLimits && (perMinute === null || perDay === null)) {
      throw errors.invalid_request(`the plan ${plan} requires --per-minute and --per-day`);
    }
    if (!hasOwnLimits && (perMinute !== null || perDay !== null)) {
      throw errors.invalid_request(`the plan ${plan} does not accept --per-minute or --per-day`);
    }
    return { plan, perMinute, perDay };
  }
}

class PlanLimits implements Limits {
  @IsInteger(1, MAX_QUOTA) readonly perMinute!: number;
  @IsInteger(1, MAX_QUOTA) readonly perDay!: number;
}

function nameFaults(name: string): string[] {
  if (name === ENTERPRISE) return ['its limits are set for each key'];
  return NAME.test(name) ? [] : ['its name must be [a-z][a-z0-9-]*, up to 64 characters'];
}

/** An operator may add a plan and use it before this server restarts. */
export function unknownPlan(plan: string): Error {
  return new Error(
    `keys have the plan ${plan}, which does not exist: add it to the configuration file and ` +
      `restart, or change their plan (petstore keys list --json, petstore keys set-plan)`,
  );
}

/** @throws {ApiError} 503 if this server does not know the limits of a key */
export function assertLimits(limits: Limits, plan: string): void {
  if (!arePlanLimits(limits)) throw serviceUnavailable(unknownPlan(plan));
}

/** Whether both limits are integers between 1 and 10^12. */
export function arePlanLimits(limits: Limits | undefined): limits is Limits {
  return [limits?.perMinute, limits?.perDay].every(
    (limit) => Number.isInteger(limit) && limit! >= 1 && limit! <= MAX_QUOTA,
  );
}
