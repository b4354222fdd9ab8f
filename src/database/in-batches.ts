import type { ObjectLiteral, Repository } from 'typeorm';

/** SQLite runs in this process: no request is answered during a batch. */
const TARGET_MS = 10;
const MIN_ROWS = 100;
const FIRST_ROWS = 500;
const MAX_ROWS = 10_000;
const MAX_PAUSE_MS = 100;

/**
 * Changes many rows in batches that are short enough for requests and locks. The size of a batch follows the time that
 * the last one took, and a pause of the same length follows each batch.
 * @param batch changes at most `rows` rows, durably, and resolves to their number
 * @param stop ends the loop after the current batch
 * @returns the number of all rows
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
    if (tookMs > TARGET_MS) rows = Math.max(MIN_ROWS, rows >> 1);
    else if (tookMs < TARGET_MS / 2) rows = Math.min(MAX_ROWS, rows << 1);
    await new Promise((resume) => setTimeout(resume, Math.min(tookMs, MAX_PAUSE_MS)));
  }
  return total;
}

/** Deletes the rows that meet a condition, in such batches. */
export async function deleteInBatches(
  repository: Repository<ObjectLiteral>,
  condition: string,
  parameters: ObjectLiteral,
  stop: AbortSignal,
): Promise<void> {
  const { tableName, primaryColumns } = repository.metadata;
  const key = primaryColumns.map(({ databaseName }) => databaseName).join(', ');
  const some = `SELECT ${key} FROM ${tableName} WHERE ${condition} LIMIT :rows`;
  await inBatches(async (rows) => {
    const query = repository.createQueryBuilder().delete();
    // PostgreSQL evaluates only the outer condition again for a row that another node has just updated.
    query.where(`(${key}) IN (${some}) AND ${condition}`, { ...parameters, rows });
    return (await query.execute()).affected ?? 0;
  }, stop);
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
