import { DAY_MS } from '../../time/windows.js';

const LONGEST_BAN_MS = 3_600_000;
/** For so long after a ban began, a further one is longer. */
const MEMORY_MS = DAY_MS;
/** More than enough for the longest; unbounded, the length would become infinite. */
const MOST_DOUBLINGS = 30;

export interface BanPolicy {
  /** Refusals within one minute that are still no reason for a ban; 0 turns bans off. */
  afterRejections: number;
  firstBanMs: number;
}

/** The last ban of a subject: Unix milliseconds. */
export interface Ban {
  at: number;
  until: number;
  /** How many in a row, each within 24 hours of the one before. */
  bans: number;
}

/** The next ban: each further one within 24 hours is twice as long, up to one hour. */
export function nextBan(previous: Ban | undefined, nowMs: number, policy: BanPolicy): Ban {
  const inARow = previous !== undefined && nowMs - previous.at < MEMORY_MS;
  const bans = inARow ? previous.bans + 1 : 1;
  const doubled = policy.firstBanMs * 2 ** Math.min(bans - 1, MOST_DOUBLINGS);
  const lengthMs = Math.min(doubled, Math.max(LONGEST_BAN_MS, policy.firstBanMs));
  return { at: nowMs, until: nowMs + lengthMs, bans };
}

/** The same rule in Redis: of `at` and `bans` (0 where there was none), `now` and `first`, the next ban. */
export const NEXT_BAN_LUA = `
local function nextBan(at, bans, now, first)
  if at > 0 and now - at < ${MEMORY_MS} then bans = bans + 1 else bans = 1 end
  local doubled = first * 2 ^ math.min(bans - 1, ${MOST_DOUBLINGS})
  return now, now + math.min(doubled, math.max(${LONGEST_BAN_MS}, first)), bans
end`;
