import { DAY_MS } from './windows.js';

const LONGEST_BAN_MS = 3_600_000;

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
  const inARow = previous !== undefined && nowMs - previous.at < DAY_MS;
  const bans = inARow ? previous.bans + 1 : 1;
  const doubled = policy.firstBanMs * 2 ** Math.min(bans - 1, 30);
  const lengthMs = Math.min(doubled, Math.max(LONGEST_BAN_MS, policy.firstBanMs));
  return { at: nowMs, until: nowMs + lengthMs, bans };
}
