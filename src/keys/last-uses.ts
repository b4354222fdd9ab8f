import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { eachInOrder } from '../database/in-order.js';
import { run, Statement } from '../database/statement.js';
import { grown, type NameHolder, SharedNames } from '../rate-limits/names.js';
import { Logger } from '../telemetry/logger.js';

const SAVE_INTERVAL_MS = 5_000;
const FIRST_USES = 1_024;

/** Another node may have written down a later one. */
const USED = new Statement('keys.used', ({ members, locksRows, skipLocked }) => {
  const told = `(SELECT name AS key_id, value AS used_at FROM ${members('$1')} members)`;
  if (!locksRows) {
    return `INSERT INTO api_key_uses (key_id, used_at)
      SELECT key_id, used_at FROM ${told} told WHERE true
      ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at
      WHERE api_key_uses.used_at < excluded.used_at`;
  }
  // Who has locked a row writes down the same from another node, and is not waited for.
  return `WITH told AS ${told}, again AS (
      UPDATE api_key_uses SET used_at = later.used_at FROM (
        SELECT key_id, told.used_at FROM told JOIN api_key_uses known USING (key_id)
        WHERE known.used_at < told.used_at
        ${skipLocked('known')}
      ) later WHERE api_key_uses.key_id = later.key_id
    )
    INSERT INTO api_key_uses (key_id, used_at)
    SELECT key_id, used_at FROM told
    WHERE NOT EXISTS (SELECT 1 FROM api_key_uses known WHERE known.key_id = told.key_id)
    ORDER BY key_id
    ON CONFLICT (key_id) DO NOTHING`;
});

/** When keys were last used, for operators: kept here, and written down some seconds later, many at once. */
@Injectable()
export class LastUses implements NameHolder, OnModuleInit, BeforeApplicationShutdown {
  /** Unix milliseconds, by the number of a key's id; 0 where none waits to be written down. */
  private atMs = new Float64Array(FIRST_USES);
  /** Whose uses wait, and whose are being written down. */
  private unsaved: number[] = [];
  private leaving: number[] = [];
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
    private readonly names: SharedNames,
  ) {
    names.addHolder(this);
  }

  onModuleInit(): void {
    this.timer = setInterval(() => void this.save(), SAVE_INTERVAL_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.saving;
    await this.save();
  }

  /** @param atMs Unix milliseconds */
  record(keyId: string, atMs: number): void {
    const number = this.names.add(keyId);
    if (number >= this.atMs.length) this.atMs = grown(this.atMs, number + 1);
    if (this.atMs[number] === 0) this.unsaved.push(number);
    this.atMs[number] = atMs;
  }

  markHeld(marks: Uint8Array): void {
    for (const numbers of [this.unsaved, this.leaving]) {
      for (const number of numbers) marks[number] = 1;
    }
  }

  private save(): Promise<void> {
    this.saving ??= this.saveInBatches().finally(() => (this.saving = undefined));
    return this.saving;
  }

  private async saveInBatches(): Promise<void> {
    this.leaving = this.unsaved;
    this.unsaved = [];
    try {
      await eachInOrder(
        Uint32Array.from(this.leaving),
        (number) => this.names.nameOf(number),
        async (part, keyIds) => {
          const uses = this.takeAsJson(part, keyIds);
          await this.engine.write(() => run(USED, uses));
        },
      );
    } catch (err) {
      // Only ever a hint for operators: of those that were about to be written, the next use is.
      this.logger.debug({ err }, 'The last use of keys could not be saved');
      const left = this.leaving.filter((number) => this.atMs[number] !== 0);
      this.unsaved = [...new Set([...left, ...this.unsaved])];
    } finally {
      this.leaving = [];
    }
  }

  /** By hand, for the names of an object's members go to V8's table of strings, each of a million. */
  private takeAsJson(numbers: readonly number[], keyIds: readonly string[]): string {
    const members = numbers.map(
      (number, index) => `${JSON.stringify(keyIds[index])}:${this.atMs[number]}`,
    );
    for (const number of numbers) this.atMs[number] = 0;
    return `{${members.join()}}`;
  }
}
