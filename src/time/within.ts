import { setTimeout as pause } from 'node:timers/promises';

/** Whoever was asked has not answered in time. To callers it is away. */
export class NoAnswer extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super('There was no answer in time');
  }
}

/** Waits until `work` is done, or for so long: what is not done then goes on by itself. */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms, undefined, { ref: false })]);
}

/**
 * What `answer` resolves to, if it is here in time. What came in while this process stood still is: it
 * was late itself, not the answer.
 * @throws {NoAnswer}
 */
export async function within<Value>(ms: number, answer: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => setImmediate(() => reject(new NoAnswer())), ms);
  });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
  }
}
