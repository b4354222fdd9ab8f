import { Injectable } from '@nestjs/common';
import { BackgroundTasks, type Flush } from '../database/background-tasks.js';
import { Database, rowsStatement, sameStatement } from '../database/database.js';
import { forEachBatch } from '../database/in-batches.js';

/** With the time that a flush takes, well below the 60 s that `lastUsedAt` may lag. */
const FLUSH_INTERVAL_MS = 30_000;

/** Another node may have saved a later use, or may be saving one now: such rows are skipped. */
const SAVE = rowsStatement(
  'keys.save-last-uses',
  (elements, lock) => `
  UPDATE api_keys SET last_used_at = later.used_at, last_used_from = later.address FROM (
    SELECT known.id, CAST(used.value ->> 1 AS bigint) AS used_at, used.value ->> 2 AS address
    FROM ${elements}($1) used JOIN api_keys known ON known.id = used.value ->> 0
    WHERE COALESCE(known.last_used_at, 0) < CAST(used.value ->> 1 AS bigint) ${lock}
  ) later WHERE api_keys.id = later.id`,
  'FOR UPDATE OF known SKIP LOCKED',
);

const SAVE_FIRST = sameStatement(
  'keys.save-first-use',
  `UPDATE api_keys SET last_used_at = $1, last_used_from = $2
  WHERE id = $3 AND last_used_at IS NULL AND revoked_at IS NULL AND disabled_at IS NULL`,
);

export interface Use {
  /** Unix milliseconds. */
  atMs: number;
  address: string;
}

/**
 * Records when keys were last used. The first use of a key is stored immediately; later ones
 * are flushed together, so a crash loses the last 30 seconds.
 */
@Injectable()
export class LastUses {
  readonly flush: Flush;
  /** By the id of the key. */
  private readonly pending = new Map<string, Use>();

  constructor(
    private readonly database: Database,
    background: BackgroundTasks,
  ) {
    this.flush = background.add({
      task: 'save the last uses of keys',
      intervalMs: FLUSH_INTERVAL_MS,
      run: () =>
        forEachBatch([...this.pending], async (uses) => {
          const rows = uses.map(([keyId, { atMs, address }]) => [keyId, atMs, address]);
          await database.write(SAVE, JSON.stringify(rows));
          for (const [keyId, use] of uses) {
            if (this.pending.get(keyId) === use) this.pending.delete(keyId);
          }
        }),
    });
  }

  record(keyId: string, use: Use): void {
    this.pending.set(keyId, use);
  }

  /**
   * Stores the first use of a key. It races with a rotation that deletes the unused key: only one
   * of them succeeds.
   */
  async recordFirst(keyId: string, { atMs, address }: Use): Promise<void> {
    await this.database.write(SAVE_FIRST, atMs, address, keyId);
  }
}
