const DAY_MS = 86_400_000;
const LONGEST_TEST_MS = 20_000;

/** For real processes, whose clock cannot be moved: lets a day go that would end during a test. */
export async function clearOfMidnight(): Promise<void> {
  const leftMs = DAY_MS - (Date.now() % DAY_MS);
  if (leftMs < LONGEST_TEST_MS) await new Promise((resume) => setTimeout(resume, leftMs + 50));
}
