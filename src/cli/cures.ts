import { PLANS } from '../rate-limits/plan.js';
import type { KeyView, UsageView } from './key-views.js';
import { statusOf } from './keys.output.js';

/** Takes nothing of the plan, and so is never refused by it: it has a limit of its own. */
const APART = 'getUsage';

/** What an operator can do for a caller that is refused: why, and the command. Nothing where none is. */
export function curesOf(usage: UsageView): string[] {
  const { id, outcomes, replacedBy, scopes, bannedUntil } = usage;
  const status = statusOf(usage);
  const refusedBy = (code: string): boolean => outcomes.some((each) => each.code === code);
  if (status === 'revoked' || status === 'expired') {
    const other =
      replacedBy === null
        ? `give its client another: ${issueAnother(usage)}`
        : `its client is to use ${replacedBy}`;
    return [`The key is ${status}, for good: ${other}`];
  }
  const cures: string[] = [];
  if (bannedUntil !== null) {
    const end = `petstore keys unban ${id} ends the ban`;
    cures.push(
      `It is banned, having gone on after refusals; it has to wait for Retry-After: ${end}`,
    );
  }
  if (refusedBy('rate_limit_exceeded')) cures.push(cureOfLimit(usage));
  if (refusedBy('insufficient_scope')) {
    const has = `it has ${scopes.join(', ')}`;
    cures.push(`A scope is missing (${has}): petstore keys set-scopes ${id} --scopes LIST`);
  }
  return cures;
}

/**
 * The plan is not the only limit with that code: an operation may have one, which no plan lifts. A window
 * that is full tells; of one that has ended, the operations that were refused do, as far as they can.
 */
function cureOfLimit({ id, minute, day, refusals }: UsageView): string {
  const setPlan = `petstore keys set-plan ${id} --plan PLAN`;
  if (minute.remaining === 0 || day.remaining === 0) {
    return `It asks for more than its plan allows: ${setPlan}`;
  }
  const limited = refusals.filter(({ code }) => code === 'rate_limit_exceeded');
  if (limited.length > 0 && limited.every(({ operation }) => operation === APART)) {
    return 'Of late it asks too often for its usage, which no plan changes: its client is to wait for Retry-After';
  }
  return (
    'It was refused by a limit, and has something left of its plan now. Where an operation has a limit of its ' +
    `own, its client is to wait for Retry-After; where it asks for more than its plan allows: ${setPlan}`
  );
}

/** A key that may do the same, as a command that a shell takes as it is. */
function issueAnother({ name, plan, scopes, perMinute, perDay }: KeyView): string {
  const limits = PLANS[plan] === undefined ? ` --per-minute ${perMinute} --per-day ${perDay}` : '';
  const quoted = `'${name.replaceAll("'", String.raw`'\''`)}'`;
  return `petstore keys issue --name ${quoted} --plan ${plan}${limits} --scopes ${scopes.join(',')}`;
}
