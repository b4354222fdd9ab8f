/** Longer than any promise, because the machine may be busy. */
const PATIENCE_MS = 60_000;

/** Waits until a condition holds. */
export async function eventually(
  holds: () => Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('The condition did not become true');
    await new Promise((resume) => setTimeout(resume, 50));
  }
}
