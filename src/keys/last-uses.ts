import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { forEachBatch } from '../database/in-batches.js';
import { Logger } from '../telemetry/logger.js';

/** With the time that a flush takes, well below the 60 s that `lastUsedAt` may lag. */
const FLUSH_INTERVAL_MS = 30_000;

/**
 * Records when keys were last used. Uses are flushed together, so a crash loses the last 30
 * seconds.
 */
@Injectable()
export class LastUses implements OnModuleInit, BeforeApplicationShutdown {
  /** Unix milliseconds by the id of the key. */
  private pending = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), FLUSH_INTERVAL_MS).unref();
  }

  beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    return this.flush();
  }

  record(keyId: string, usedAtMs: number): void {
    this.pending.set(keyId, usedAtMs);
  }

  async flush(): Promise<void> {
    const uses = [...this.pending];
    this.pending = new Map();
    try {
      await forEachBatch(uses, (batch) => this.save(JSON.stringify(Object.fromEntries(batch))));
    } catch (err) {
      this.logger.debug({ err }, 'Last uses of keys could not be saved');
    }
  }

  /** Another node may have saved a later use, or may be saving one now: such rows are skipped. */
  private async save(uses: string): Promise<void> {
    const [members, skipLocked] =
      this.dataSource.options.type === 'postgres'
        ? ['json_each_text', 'FOR UPDATE OF known SKIP LOCKED']
        : ['json_each', ''];
    await this.dataSource.sql`
      UPDATE api_keys SET last_used_at = later.used_at FROM (
        SELECT known.id, CAST(used.value AS bigint) AS used_at
        FROM ${() => members}(${uses}) used JOIN api_keys known ON known.id = used.key
        WHERE COALESCE(known.last_used_at, 0) < CAST(used.value AS bigint) ${() => skipLocked}
      ) later WHERE api_keys.id = later.id`;
  }
}
