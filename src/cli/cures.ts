import type { UsageView } from './key-views.js';
import { statusOf } from './keys.output.js';

/** What an operator can do for a caller that is refused: why, and the command. Nothing where none is. */
export function curesOf(usage: UsageView): string[] {
  const { id, name, plan, outcomes, replacedBy, scopes, bannedUntil } = usage;
  const status = statusOf(usage);
  const refusedBy = (code: string): boolean => outcomes.some((each) => each.code === code);
  if (status === 'revoked' || status === 'expired') {
    const issue = `petstore keys issue --name "${name}" --plan ${plan}`;
    const other =
      replacedBy === null
        ? `give its client another: ${issue}`
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
  if (refusedBy('rate_limit_exceeded')) {
    cures.push(`It asks for more than its plan allows: petstore keys set-plan ${id} --plan PLAN`);
  }
  if (refusedBy('insufficient_scope')) {
    const has = `it has ${scopes.join(', ')}`;
    cures.push(`A scope is missing (${has}): petstore keys set-scopes ${id} --scopes LIST`);
  }
  return cures;
}
