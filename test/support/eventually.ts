/**
 * Promised within a second; the test waits longer, since it may share its machine with others, and how
 * often the servers look is asserted beside the poller.
 */
const PATIENCE_MS = 15_000;

/** Waits until something holds. */
export async function eventually(
  holds: () => Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('It did not come about');
    await new Promise((resume) => setTimeout(resume, 50));
  }
}
