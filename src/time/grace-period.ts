/** For what is left open when everything is done, as a connection that is still being made: it must not keep a process. */
export const LINGER_MS = 100;
/** That, the last lines of a log that nobody reads, and the end of the process itself. */
const LEAVING_MS = 400;
/** Of the rest, what is left for saving counters and closing the database. */
const CLOSING_SHARE = 0.15;

/** Until when a process that was told to stop just now may do what, by the monotonic clock. */
export interface GracePeriod {
  /** Requests under way. */
  drainUntilMs: number;
  /** Of workers, whose counters the primary process saves behind them. */
  workerClosesUntilMs: number;
  /** Of a worker that has not ended by then nothing more is waited for. */
  workerEndsUntilMs: number;
  closeUntilMs: number;
}

/** All of it, the end of the process included, is within so many seconds. */
export function beginGracePeriod(seconds: number): GracePeriod {
  const graceMs = seconds * 1_000 - LEAVING_MS;
  const closeUntilMs = performance.now() + graceMs;
  const thirdMs = (graceMs * CLOSING_SHARE) / 3;
  return {
    drainUntilMs: closeUntilMs - 3 * thirdMs,
    workerClosesUntilMs: closeUntilMs - 2 * thirdMs,
    workerEndsUntilMs: closeUntilMs - thirdMs,
    closeUntilMs,
  };
}
