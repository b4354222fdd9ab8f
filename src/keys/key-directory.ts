import { Injectable } from '@nestjs/common';
import { Clock, Stopwatch } from '../time/clock.js';
import { within } from '../time/within.js';
import { Engine } from '../database/engine.js';
import { isOutage } from '../database/outage.js';
import { Poller, type Watch } from '../database/poller.js';
import { Statement } from '../database/statement.js';
import type { Count } from '../telemetry/instruments.js';
import { Metrics } from '../telemetry/metrics.js';
import { type PlanName, PLANS } from '../rate-limits/plan.js';
import { SharedNames } from '../rate-limits/names.js';
import type { Caller } from './caller.js';
import { CallerKind, CallerTable, KnownCaller } from './caller-table.js';
import { LastUses } from './last-uses.js';

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
  private readonly hits: Count;
  private readonly misses: Count;

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
      labels: ['result'],
    });
    this.hits = lookups.of('hit');
    this.misses = lookups.of('miss');
    this.changes = poller.watch((sinceMs) => this.takeOverChanges(sinceMs));
  }

  /** The caller, where it is known for sure without asking the database. */
  remembered(digest: string): Caller | undefined {
    const caller = this.callers.get(digest);
    if (caller === undefined || !this.changes.isCurrent) return undefined;
    const inForce = this.inForce(caller);
    if (inForce !== undefined) this.hits.add();
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
    this.misses.add();
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
