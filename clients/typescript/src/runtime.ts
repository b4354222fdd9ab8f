/** Time and chance, so that tests can decide them. */
export interface Runtime {
  /** Milliseconds that only ever go forward, whatever is done to the clock. */
  now: () => number;
  /** From 0 to 1. */
  random: () => number;
  /** Calls back once, after that many milliseconds, unless what it returns is called before. */
  after: (ms: number, callback: () => void) => () => void;
}

/** Longer ones end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemRuntime: Runtime = {
  now: () => performance.now(),
  random: () => Math.random(),
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** Rejects with the signal's reason as soon as it is aborted. */
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
