/** Time and randomness, replaceable in tests. */
export interface Runtime {
  /** Monotonic time in milliseconds. */
  now: () => number;
  /** @returns a number from 0 to 1. */
  random: () => number;
  /** Calls `callback` once after `ms` milliseconds. @returns a function that cancels it. */
  after: (ms: number, callback: () => void) => () => void;
}

/**
 * The time of a response by the clock of the service, which decides when something ends. The clock
 * of this machine is used if the response does not state it.
 *
 * @returns Unix milliseconds
 */
export function serviceTime(headers: Headers): number {
  return Date.parse(headers.get('date') ?? '') || Date.now();
}

/** A longer timer would fire immediately. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemRuntime: Runtime = {
  now: () => performance.now(),
  random: () => Math.random(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** @throws the signal's reason as soon as it is aborted. */
export function sleep(
  runtime: Runtime,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const cancel = runtime.after(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve();
    });
    function abort(): void {
      cancel();
      reject(signal?.reason as Error);
    }
    signal?.addEventListener('abort', abort, { once: true });
  });
}
