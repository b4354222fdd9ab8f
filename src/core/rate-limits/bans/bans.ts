import { DAY_MS } from '../../time/windows.js';

const LONGEST_BAN_MS = 3_600_000;

/** The last ban of a client. Times are Unix milliseconds. */
export interface Ban {
  at: number;
  /** 0 if the ban was lifted. */
  until: number;
  /** Bans in a row, each within 24 hours of the previous one. */
  bans: number;
}

/**
 * The next ban. The first is `firstMs` long. Each ban within 24 hours of the previous one is twice
 * as long, up to one hour.
 */
export function nextBan(previous: Ban | undefined, nowMs: number, firstMs: number): Ban {
  const inARow = previous !== undefined && nowMs - previous.at < DAY_MS;
  const bans = inARow ? previous.bans + 1 : 1;
  const doubledMs = firstMs * 2 ** (bans - 1);
  const lengthMs = Math.min(doubledMs, Math.max(LONGEST_BAN_MS, firstMs));
  return { at: nowMs, until: nowMs + lengthMs, bans };
}

/**
 * Which of two records of the same ban wins: the later end, because two nodes that count alone may
 * both have banned the client. A lifted ban also ends bans that did not begin later.
 */
export function mergeBans(known: Ban | undefined, other: Ban): Ban {
  if (known === undefined) return other;
  if (known.until === 0 || other.until === 0) {
    const isNewer = other.at > known.at || (other.at === known.at && other.until === 0);
    return isNewer ? other : known;
  }
  const { until, bans } = other.until > known.until ? other : known;
  return { at: Math.max(known.at, other.at), until, bans };
}

/**
 * `mergeBans` in Lua: start, end and number of the known ban (0 if none), then of the other.
 */
export const MERGE_BANS_LUA = `
local function mergeBans(at, ends, bans, otherAt, otherEnds, otherBans)
  if ends == 0 or otherEnds == 0 then
    local newer = otherAt > at or (otherAt == at and otherEnds == 0)
    if newer then return otherAt, otherEnds, otherBans end
    return at, ends, bans
  end
  if otherEnds > ends then ends, bans = otherEnds, otherBans end
  return math.max(at, otherAt), ends, bans
end`;

/**
 * `nextBan` in Lua: start and number of the previous ban (0 if none), now, and the length of a
 * first ban.
 */
export const NEXT_BAN_LUA = `
local function nextBan(at, bans, now, first)
  if at > 0 and now - at < ${DAY_MS} then bans = bans + 1 else bans = 1 end
  local doubled = first * 2 ^ (bans - 1)
  return now, now + math.min(doubled, math.max(${LONGEST_BAN_MS}, first)), bans
end`;
