import type { Ban } from '../bans/bans.js';
import type { FurtherLimit } from '../further-limit.js';
import type { Decision } from './rate-limit-store.js';

/** A question to the process that counts; its arguments are those of `RateLimitStore`. */
export type Ask =
  | readonly ['take', subject: string, perMinute: number, perDay: number, further?: FurtherLimit]
  | readonly ['peek', subject: string]
  | readonly ['unban', subject: string]
  /** Of `ToldShares.raise`. */
  | readonly ['told', name: string, at: number, percent: number];

/** The members of a `Decision`. */
type Members = readonly [
  admitted: boolean,
  nowMs: number,
  minute: number,
  minuteUsed: number,
  day: number,
  dayUsed: number,
  bannedUntilMs: number,
  furtherFullUntilMs: number,
  aheadMs: number,
  newBan?: Ban,
];

/** Null where there is nothing to say. */
export type Answer = Members | number | null;

/** The way to another process of this machine that counts for this one. */
export abstract class CounterChannel {
  /** Asks many questions at once; resolves to as many answers, in their order. */
  abstract ask(asks: readonly Ask[]): Promise<readonly Answer[]>;
}

export function toAnswer(decision: Decision): Answer {
  const { admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs } = decision;
  const { furtherFullUntilMs = 0, aheadMs = 0, newBan } = decision;
  const counts = [admitted, nowMs, minute, minuteUsed, day, dayUsed] as const;
  const refused = [bannedUntilMs, furtherFullUntilMs, aheadMs] as const;
  return newBan === undefined ? [...counts, ...refused] : [...counts, ...refused, newBan];
}

export function toDecision(answer: Answer): Decision {
  const [admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs] = answer as Members;
  const [furtherFullUntilMs, aheadMs, newBan] = (answer as Members).slice(7) as [
    number,
    number,
    Ban?,
  ];
  const decision: Decision = { admitted, nowMs, minute, minuteUsed, day, dayUsed, bannedUntilMs };
  if (furtherFullUntilMs > 0) decision.furtherFullUntilMs = furtherFullUntilMs;
  if (aheadMs > 0) decision.aheadMs = aheadMs;
  if (newBan === undefined) return decision;
  return { ...decision, newBan, beganBan: true };
}
