import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { BackgroundWriter, type Flush } from '../database/background-writer.js';
import { jsonElements, skipLocked } from '../database/dialect.js';
import { forEachBatch } from '../database/in-batches.js';

/** With the time that a flush takes, well below the 60 s that `lastUsedAt` may lag. */
const FLUSH_INTERVAL_MS = 30_000;

/**
 * Records when keys were last used. Uses are flushed together, so a crash loses the last 30
 * seconds.
 */
@Injectable()
export class LastUses {
  readonly flush: Flush;
  /** Unix milliseconds by the id of the key. */
  private readonly pending = new Map<string, number>();

  constructor(
    private readonly dataSource: DataSource,
    writer: BackgroundWriter,
  ) {
    this.flush = writer.add({
      task: 'save the last uses of keys',
      intervalMs: FLUSH_INTERVAL_MS,
      write: () => forEachBatch([...this.pending], (uses) => this.save(uses)),
    });
  }

  record(keyId: string, usedAtMs: number): void {
    this.pending.set(keyId, usedAtMs);
  }

  /** Another node may have saved a later use, or may be saving one now: such rows are skipped. */
  private async save(uses: readonly [keyId: string, usedAtMs: number][]): Promise<void> {
    await this.dataSource.sql`
      UPDATE api_keys SET last_used_at = later.used_at FROM (
        SELECT known.id, CAST(used.value ->> 1 AS bigint) AS used_at
        FROM ${() => jsonElements(this.dataSource)}(${JSON.stringify(uses)}) used
        JOIN api_keys known ON known.id = used.value ->> 0
        WHERE COALESCE(known.last_used_at, 0) < CAST(used.value ->> 1 AS bigint)
        ${() => skipLocked(this.dataSource, 'known')}
      ) later WHERE api_keys.id = later.id`;
    for (const [keyId, usedAtMs] of uses) {
      if (this.pending.get(keyId) === usedAtMs) this.pending.delete(keyId);
    }
  }
}
