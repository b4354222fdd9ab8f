import { coreChecks } from './core.js';
import { exactChecks } from './exact.js';
import { casesFrom, observersFrom } from './from-data.js';
import { httpChecks } from './http.js';
import { mannersChecks } from './manners.js';
import { quotaChecks } from './quota.js';

export const LEVELS = ['core', 'manners', 'quota', 'exact'];

/** All checks, by level; within a level, observers are last. */
export const CHECKS = sorted([
  ...coreChecks,
  ...casesFrom('core'),
  ...observersFrom('observed-core'),
  ...mannersChecks,
  ...casesFrom('errors'),
  ...casesFrom('create'),
  ...casesFrom('request-ids'),
  ...observersFrom('observed-manners'),
  ...httpChecks,
  ...quotaChecks,
  ...exactChecks,
]);

function sorted(checks) {
  const place = ({ level, isObserver = false }) => LEVELS.indexOf(level) * 2 + Number(isObserver);
  return checks.toSorted((one, other) => place(one) - place(other));
}
