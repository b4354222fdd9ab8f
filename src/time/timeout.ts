import { setTimeout as pause } from 'node:timers/promises';

/** There was no answer in time. To callers, this is an outage. */
export class TimeoutError extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('There was no response in time');
  }
}

/** Waits for `work`, but no longer than `ms`. Unfinished work continues. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms, undefined, { ref: false })]);
}

/**
 * Waits for an answer. An answer that arrived while this process was suspended counts as in time:
 * its event is handled before the `setImmediate` of the timeout.
 * @throws {TimeoutError}
 */
export async function withTimeout<Value>(ms: number, answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new TimeoutError())), ms);
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
