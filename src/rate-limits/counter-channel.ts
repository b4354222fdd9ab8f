import type { Decision } from './rate-limit-store.js';

/** A question to the process that counts; its arguments are those of `RateLimitStore`. */
export type Ask =
  | readonly ['take', subject: string, perMinute: number, perDay: number, bans: boolean]
  | readonly ['peek', subject: string]
  | readonly ['unban', subject: string];

/** The members of a `Decision`; null where there is nothing to say. */
export type Answer =
  | readonly [
      admitted: boolean,
      nowMs: number,
      minuteUsed: number,
      dayUsed: number,
      bannedUntilMs: number,
    ]
  | null;

/** The way to another process of this machine that counts for this one. */
export abstract class CounterChannel {
  /** Asks many questions at once; resolves to as many answers, in their order. */
  abstract ask(asks: readonly Ask[]): Promise<readonly Answer[]>;
}

export function toAnswer(decision: Decision): Answer {
  const { admitted, nowMs, minuteUsed, dayUsed, bannedUntilMs } = decision;
  return [admitted, nowMs, minuteUsed, dayUsed, bannedUntilMs];
}

export function toDecision(answer: Answer): Decision {
  const [admitted, nowMs, minuteUsed, dayUsed, bannedUntilMs] = answer!;
  return { admitted, nowMs, minuteUsed, dayUsed, bannedUntilMs };
}
