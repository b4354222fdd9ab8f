import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Engine } from '../database/engine.js';
import { eachInOrder } from '../database/in-order.js';
import { isOutage } from '../database/outage.js';
import { Poller, type Watch } from '../database/poller.js';
import { run, Statement } from '../database/statement.js';
import { grown, type NameHolder, SharedNames } from '../rate-limits/names.js';
import { type PlanName, PLANS } from '../rate-limits/plan.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock, Stopwatch } from '../time/clock.js';
import { within } from '../time/within.js';
import { CallerKind, CallerTable, KnownCaller } from './caller-table.js';
import type { Caller } from './caller.js';

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

/** Some 60 bytes each. */
const MAX_REMEMBERED = 1_000_000;
/** While the database is away, callers are recognised for this long: a revoked one might be among them. */
const TRUSTED_UNSEEN_MS = 300_000;
/** Who is not sure whether it is away asks for this long. */
const DOUBT_PATIENCE_MS = 500;
/** After so many changes it is less work to forget everyone. */
const MANY_CHANGES = 10_000;
/** What was longer on its way may be of before a look that did not find it here. */
const FRESH_MS = 5_000;

interface KeyRow {
  id: string;
  clientId: string;
  digest: string;
  plan: PlanName;
  scopes: string;
  perMinute: number | string | null;
  perDay: number | string | null;
  expiresAt: number | string | null;
  revokedAt: number | string | null;
  changedAt: number | string;
}

const COLUMNS = `id, client_id AS "clientId", digest, plan, scopes, per_minute AS "perMinute",
  per_day AS "perDay", expires_at AS "expiresAt", revoked_at AS "revokedAt", changed_at AS "changedAt"`;
const FIND = new Statement<KeyRow>(
  'keys.find-by-digest',
  () => `SELECT ${COLUMNS} FROM api_keys WHERE digest = $1`,
);
const CHANGED = new Statement<KeyRow>(
  'keys.changed',
  () => `SELECT ${COLUMNS} FROM api_keys WHERE changed_at >= $1 LIMIT ${MANY_CHANGES}`,
);
/** Finds the caller that a key's digest stands for, and remembers it until it changes. */
@Injectable()
export class KeyDirectory {
  private readonly callers: CallerTable;
  private readonly changes: Watch;
  private readonly hits: Counter.Internal;
  private readonly misses: Counter.Internal;

  constructor(
    private readonly engine: Engine,
    poller: Poller,
    private readonly clock: Clock,
    private readonly lastUses: LastUses,
    metrics: Metrics,
    names: SharedNames,
  ) {
    this.callers = new CallerTable(MAX_REMEMBERED, names);
    const lookups = metrics.counter({
      name: 'key_cache_total',
      help: 'Keys that were looked up: found in memory, or asked of the database.',
      labelNames: ['result'],
    });
    this.hits = lookups.labels('hit');
    this.misses = lookups.labels('miss');
    this.changes = poller.watch((sinceMs) => this.takeOverChanges(sinceMs));
  }

  /** The caller, where it is known for sure without asking the database. */
  remembered(digest: string): Caller | undefined {
    const caller = this.callers.get(digest);
    if (caller === undefined || !this.changes.isCurrent) return undefined;
    const inForce = this.inForce(caller);
    if (inForce !== undefined) this.hits.inc();
    return inForce;
  }

  /** Whom a key, which was just looked for and is not in force, has stood for. */
  formerly(digest: string): { caller: Caller; why: 'revoked' | 'expired' } | undefined {
    const caller = this.callers.get(digest);
    if (caller === undefined) return undefined;
    return { caller, why: caller.expiresAtMs === REVOKED_MS ? 'revoked' : 'expired' };
  }

  /**
   * The caller as the database knows it; undefined where no key in force has the digest. Where the
   * database is away, who was known before is taken for known for some time.
   */
  async load(digest: string): Promise<Caller | undefined> {
    const known = this.callers.get(digest);
    // Not in force, and no look has found anything else since: nobody has to wait for a connection to say so.
    if (known !== undefined && this.changes.isCurrent) return this.inForce(known);
    this.misses.inc();
    if (known === undefined) return this.find(digest);
    try {
      return await within(DOUBT_PATIENCE_MS, this.find(digest));
    } catch (error) {
      const latest = this.callers.get(digest);
      const isTrusted = isOutage(error) && this.changes.unseenForMs <= TRUSTED_UNSEEN_MS;
      if (latest === undefined || !isTrusted) throw error;
      return this.inForce(latest);
    }
  }

  private async find(digest: string): Promise<Caller | undefined> {
    const asked = new Stopwatch(this.clock);
    const row = await this.engine.first(FIND, digest);
    if (row === undefined) return undefined;
    const caller = toCaller(row);
    return this.inForce(asked.elapsedMs < FRESH_MS ? this.remember(digest, caller) : caller);
  }

  /** Returns the caller, or what a look has found of it since it was asked for. */
  private remember(digest: string, caller: KnownCaller): KnownCaller {
    const known = this.callers.get(digest);
    if (known !== undefined && known.changedAt > caller.changedAt) return known;
    if (known === undefined) {
      // Why a key is refused has to be told of each that has ended.
      const isInForce = caller.expiresAtMs > this.clock.now();
      if (isInForce && !this.callers.letsIn()) return caller;
    }
    this.callers.set(digest, caller);
    return caller;
  }

  /** Each change of a key has a moment of its own, later than that of the one before. */
  private async takeOverChanges(sinceMs: number | undefined): Promise<void> {
    const changes = sinceMs === undefined ? [] : await this.engine.observe(CHANGED, sinceMs);
    if (sinceMs === undefined || changes.length === MANY_CHANGES) this.callers.clear();
    for (const row of changes) {
      const known = this.callers.get(row.digest);
      if (known === undefined || known.changedAt === Number(row.changedAt)) continue;
      this.callers.set(row.digest, toCaller(row));
    }
  }

  private inForce(caller: KnownCaller): Caller | undefined {
    const nowMs = this.clock.now();
    if (caller.expiresAtMs <= nowMs) return undefined;
    this.lastUses.record(caller.keyId, nowMs);
    return caller;
  }
}

/** Long ago. */
const REVOKED_MS = 0;

/** A revoked key has ended, whatever the clock says: it may be behind that of who revoked it. */
function toCaller(row: KeyRow): KnownCaller {
  const { id, clientId, plan, scopes, expiresAt, revokedAt, changedAt } = row;
  const perMinute = Number(row.perMinute ?? PLANS[plan]?.perMinute);
  const perDay = Number(row.perDay ?? PLANS[plan]?.perDay);
  const endsAtMs = expiresAt === null ? Infinity : Number(expiresAt);
  return new KnownCaller(
    id,
    clientId,
    new CallerKind(plan, scopes, perMinute, perDay),
    revokedAt === null ? endsAtMs : REVOKED_MS,
    Number(changedAt),
  );
}
