import { setTimeout as pause } from 'node:timers/promises';

/** No response arrived in time. To callers, this is an outage. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('No response arrived in time');
  }
}

/** Waits for `work`, but no longer than `ms`. Unfinished work continues. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms, undefined, { ref: false })]);
}

/** A suspension of this process, however long, counts as one step of the timeout. */
const STEPS = 5;

/**
 * Waits for a response. If this process is suspended while it waits, the response still has most of
 * its time, because the suspension may also have delayed the response.
 * @throws {TimeoutError}
 */
export async function withTimeout<Value>(ms: number, response: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    let steps = 0;
    timer = setInterval(() => {
      steps++;
      // A response that has arrived is handled before `setImmediate`.
      if (steps === STEPS) setImmediate(() => reject(new TimeoutError()));
    }, ms / STEPS);
  });
  try {
    return await Promise.race([response, timeout]);
  } finally {
    clearInterval(timer);
  }
}
