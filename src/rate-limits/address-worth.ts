import { DAY_MS, MINUTE_MS } from '../time/windows.js';
import type { SavedCount } from './counter-ledger.js';
import type { Limits } from './limits.js';

const DAY_SECONDS = DAY_MS / 1000;
/** At least, so that no clock's being behind ends a minute early. */
const LEAST_LIFE_SECONDS = (2 * MINUTE_MS) / 1000;
/** Of a thousand attempts a day, a restart gives back three. */
const SAVED_FROM_SECONDS = 300;

/**
 * Addresses can be made up without number. What one has used is worth as much of a day as it is of the day's limit:
 * in Redis it lives for so long.
 */
export const ADDRESS_LIFE_LUA = `
local function addressLife(used, perDay)
  return math.max(${LEAST_LIFE_SECONDS}, math.ceil(${DAY_SECONDS} * used / perDay))
end`;

/** The database keeps what is worth some minutes, or has used up its minute: a flood is no row for each address. */
export function isWorthSaving(
  { minuteUsed, dayUsed }: SavedCount,
  { perMinute, perDay }: Pick<Limits, 'perMinute' | 'perDay'>,
): boolean {
  return minuteUsed >= perMinute || DAY_SECONDS * dayUsed > SAVED_FROM_SECONDS * perDay;
}
