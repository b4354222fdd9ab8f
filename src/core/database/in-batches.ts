import type { ObjectLiteral, Repository } from 'typeorm';

/** SQLite runs in this process: a batch blocks the event loop for half a millisecond. */
const ROWS = 100;
const PAUSE_MS = 1;
export const pause = (): Promise<void> => new Promise((resume) => setTimeout(resume, PAUSE_MS));

/**
 * Handles items in batches that are short enough for requests and locks, in their order, with
 * pauses between them.
 */
export async function forEachBatch<Item>(
  items: readonly Item[],
  handle: (batch: Item[]) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += ROWS) {
    if (start > 0) await pause();
    await handle(items.slice(start, start + ROWS));
  }
}

/**
 * Deletes the rows that meet a condition, in such batches.
 * @param stop ends the loop after the current batch
 */
export async function deleteInBatches(
  repository: Repository<ObjectLiteral>,
  condition: string,
  parameters: ObjectLiteral,
  stop: AbortSignal,
): Promise<void> {
  const { tableName, primaryColumns } = repository.metadata;
  const key = primaryColumns.map(({ databaseName }) => databaseName).join(', ');
  const some = `SELECT ${key} FROM ${tableName} WHERE ${condition} LIMIT ${ROWS}`;
  while (!stop.aborted) {
    const query = repository.createQueryBuilder().delete();
    // PostgreSQL evaluates only the outer condition again for a row that another node has just
    // updated.
    query.where(`(${key}) IN (${some}) AND ${condition}`, parameters);
    if ((await query.execute()).affected! < ROWS) return;
    await pause();
  }
}
