/** SQLite runs in this process: nobody is answered while a batch is carried out. */
const BATCH_TARGET_MS = 10;
const MIN_ROWS = 100;
const FIRST_ROWS = 500;
const MAX_ROWS = 10_000;
const MAX_PAUSE_MS = 100;

/**
 * Does something to many rows in batches so short that neither a request nor a lock waits for them: each
 * has as many rows as lately took some milliseconds, and a pause behind it.
 * @param batch does it to at most `rows` rows, durably; resolves to how many there were
 * @param stop ends it after the batch that is under way
 * @returns how many rows there were in all
 */
export async function inBatches(
  batch: (rows: number) => Promise<number>,
  stop?: AbortSignal,
): Promise<number> {
  let total = 0;
  for (let rows = FIRST_ROWS; !stop?.aborted;) {
    const startedAt = performance.now();
    const done = await batch(rows);
    const tookMs = performance.now() - startedAt;
    total += done;
    if (done < rows) break;
    if (tookMs > BATCH_TARGET_MS) rows = Math.max(MIN_ROWS, rows >> 1);
    else if (tookMs < BATCH_TARGET_MS / 2) rows = Math.min(MAX_ROWS, rows << 1);
    await pauseFor(tookMs);
  }
  return total;
}

/** Others have as much time as a batch took: by the timer that tests can move, which that of `timers/promises` is not. */
export function pauseFor(tookMs: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, Math.min(tookMs, MAX_PAUSE_MS)));
}

/** Handles items in such batches, in their order. */
export async function forEachBatch<Item>(
  items: readonly Item[],
  handle: (batch: Item[]) => Promise<void>,
): Promise<void> {
  let start = 0;
  await inBatches(async (rows) => {
    const batch = items.slice(start, start + rows);
    start += batch.length;
    if (batch.length > 0) await handle(batch);
    return batch.length;
  });
}

/** Takes the first ones out of a queue, so many at most. */
export function takeFirst<Item>(queue: Set<Item>, most: number): Item[] {
  const taken: Item[] = [];
  for (const item of queue) {
    if (taken.length >= most) break;
    queue.delete(item);
    taken.push(item);
  }
  return taken;
}
