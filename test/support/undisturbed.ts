const LENGTHS_MS = { minute: 60_000, day: 86_400_000 };
const MOST_TRIES = 5;

/** Begins to watch; the result tells whether what would excuse a failure has come about since. */
export type Watch = () => () => boolean;

/**
 * For counters by a clock that cannot be moved (that of Redis, or of another process): a test that fails
 * is done again where a window of UTC ended meanwhile, for that is reason enough. So it makes itself all
 * that it looks at.
 * @param others what would be reason enough as well
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
      const excuses = [hasEnded, ...others].map((watch) => watch());
      try {
        return await test();
      } catch (error) {
        const isExcused = excuses.some((hasCome) => hasCome());
        if (!isExcused || tries === MOST_TRIES) throw error;
      }
    }
  };
}
