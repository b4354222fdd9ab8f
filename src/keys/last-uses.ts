import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Engine } from '../database/engine.js';
import { eachInOrder } from '../database/in-order.js';
import { run, Statement, type Work } from '../database/statement.js';
import { doubled, NameNumbers } from '../rate-limits/names.js';
import { Logger } from '../telemetry/logger.js';

const SAVE_INTERVAL_MS = 5_000;
const FIRST_USES = 1_024;

/** Who has locked a row writes down the same from another node, and is not waited for. */
const USED_AGAIN = new Statement(
  'keys.used-again',
  ({ members, skipLocked }) => `UPDATE api_key_uses SET used_at = latest.at FROM (
      SELECT known.key_id, told.value AS at
      FROM ${members('$1')} told CROSS JOIN api_key_uses known
      WHERE known.key_id = told.name AND known.used_at < told.value
      ${skipLocked('known')}
    ) latest WHERE api_key_uses.key_id = latest.key_id`,
);
const USED_FIRST = new Statement(
  'keys.used-first',
  ({ members }) => `INSERT INTO api_key_uses (key_id, used_at)
    SELECT told.name, told.value FROM ${members('$1')} told
    WHERE NOT EXISTS (SELECT 1 FROM api_key_uses known WHERE known.key_id = told.name)
    ORDER BY told.name
    ON CONFLICT (key_id) DO NOTHING`,
);

/** Last uses by number of key, of one interval. */
class Uses {
  private readonly keys = new NameNumbers();
  private atMs = new Float64Array(FIRST_USES);

  record(keyId: string, atMs: number): void {
    const number = this.keys.add(keyId);
    if (number === this.atMs.length) this.atMs = doubled(this.atMs);
    this.atMs[number] = atMs;
  }

  get size(): number {
    return this.keys.size;
  }

  numbers(): number[] {
    return Array.from({ length: this.size }, (_none, number) => number);
  }

  keyIdOf(number: number): string {
    return this.keys.nameOf(number);
  }

  /** By hand, for the names of an object's members go to V8's table of strings, each of a million. */
  toJson(numbers: readonly number[]): string {
    const members = numbers.map(
      (each) => `${JSON.stringify(this.keyIdOf(each))}:${this.atMs[each]}`,
    );
    return `{${members.join()}}`;
  }
}

/** When keys were last used, for operators: kept here, and written down some seconds later, many at once. */
@Injectable()
export class LastUses implements OnModuleInit, BeforeApplicationShutdown {
  private unsaved = new Uses();
  private timer: NodeJS.Timeout | undefined;
  private saving: Promise<void> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly logger: Logger,
  ) {}

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
    this.unsaved.record(keyId, atMs);
  }

  private save(): Promise<void> {
    this.saving ??= this.saveInBatches().finally(() => (this.saving = undefined));
    return this.saving;
  }

  private async saveInBatches(): Promise<void> {
    const { unsaved } = this;
    if (unsaved.size === 0) return;
    this.unsaved = new Uses();
    try {
      await eachInOrder(
        unsaved.numbers(),
        (number) => unsaved.keyIdOf(number),
        (batch) => this.engine.write(() => writeDown(unsaved.toJson(batch))),
      );
    } catch (err) {
      // Only ever a hint for operators: the next use is written down again.
      this.logger.debug({ err }, 'The last use of keys could not be saved');
    }
  }
}

function* writeDown(uses: string): Work<void> {
  yield* run(USED_AGAIN, uses);
  yield* run(USED_FIRST, uses);
}
