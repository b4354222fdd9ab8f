const LENGTHS_MS = { minute: 60_000, day: 86_400_000 };
const MOST_TRIES = 5;

/** Starts to watch; the result returns whether a disturbance has occurred since. */
export type Watch = () => () => boolean;

/**
 * For counters with a clock that cannot be moved (Redis, another process): repeats a failed test if
 * a window ended during it. The test must create its own data.
 * @param others further disturbances after which the test is repeated
 */
export function withinOne(
  window: keyof typeof LENGTHS_MS,
  test: () => Promise<void>,
  ...others: readonly Watch[]
): () => Promise<void> {
  const current = () => Math.floor(Date.now() / LENGTHS_MS[window]);
  const hasEnded: Watch = () => {
    const begun = current();
    return () => current() !== begun;
  };
  return async () => {
    for (let tries = 1; ; tries++) {
      const disturbances = [hasEnded, ...others].map((watch) => watch());
      try {
        return await test();
      } catch (error) {
        const wasDisturbed = disturbances.some((hasOccurred) => hasOccurred());
        if (!wasDisturbed || tries === MOST_TRIES) throw error;
      }
    }
  };
}
