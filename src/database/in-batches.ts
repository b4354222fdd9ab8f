import type { ObjectLiteral, Repository } from 'typeorm';

/** SQLite runs in this process: no request is answered during a batch, which takes some 5 ms. */
const ROWS = 1_000;
const PAUSE_MS = 5;

/**
 * Changes many rows in batches that are short enough for requests and locks, with pauses between them.
 * @param batch changes at most `rows` rows, durably, and resolves to their number
 * @param stop ends the loop after the current batch
 * @returns the number of all rows
 */
export async function inBatches(
  batch: (rows: number) => Promise<number>,
  stop?: AbortSignal,
): Promise<number> {
  let total = 0;
  while (!stop?.aborted) {
    const done = await batch(ROWS);
    total += done;
    if (done < ROWS) break;
    await pause();
  }
  return total;
}

function pause(): Promise<void> {
  return new Promise((resume) => setTimeout(resume, PAUSE_MS));
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
  for (let start = 0; start < items.length; start += ROWS) {
    if (start > 0) await pause();
    await handle(items.slice(start, start + ROWS));
  }
}
