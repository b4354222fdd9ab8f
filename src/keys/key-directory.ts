import { Injectable } from '@nestjs/common';
import { Clock, Stopwatch } from '../time/clock.js';
import { within } from '../time/within.js';
import { Engine } from '../database/engine.js';
import { isOutage } from '../database/outage.js';
import { Poller, type Watch } from '../database/poller.js';
import { Statement } from '../database/statement.js';
import type { Count } from '../telemetry/instruments.js';
import { Metrics } from '../telemetry/metrics.js';
import { Limits } from '../rate-limits/limits.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import type { Caller } from './caller.js';
import { KeyUse, LastUses } from './last-uses.js';

/** Some 300 bytes each. */
const MAX_REMEMBERED = 100_000;
/** From then on few newcomers are let in. */
const NEARLY_FULL = MAX_REMEMBERED - MAX_REMEMBERED / 16;
/** One in so many: who comes often soon is, and a crowd of which each comes once pushes out few. */
const LET_IN = 8;
/** So many at once, for to look for the oldest each time would take longer; those who are still here return at once. */
const FORGOTTEN_AT_ONCE = MAX_REMEMBERED / 8;
const MAX_SHARED = 1_000;
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

/** A caller, and the state of its key that it was made of. */
interface KnownCaller extends Caller {
  readonly changedAt: number;
  readonly use: KeyUse;
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
  private readonly callers = new Map<string, KnownCaller>();
  private readonly changes: Watch;
  private readonly hits: Count;
  private readonly misses: Count;

  constructor(
    private readonly engine: Engine,
    poller: Poller,
    private readonly clock: Clock,
    private readonly lastUses: LastUses,
    metrics: Metrics,
  ) {
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
      if (isInForce && !this.isLetIn()) return caller;
      if (this.callers.size >= MAX_REMEMBERED) this.forgetSome();
    }
    this.callers.set(digest, caller);
    return caller;
  }

  private isLetIn(): boolean {
    return this.callers.size < NEARLY_FULL || Math.random() * LET_IN < 1;
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
    this.lastUses.record(caller.use, nowMs);
    return caller;
  }

  /** The longest remembered: a caller that is still here is loaded again. */
  private forgetSome(): void {
    let excess = FORGOTTEN_AT_ONCE;
    for (const digest of this.callers.keys()) {
      if (excess-- <= 0) return;
      this.callers.delete(digest);
    }
  }
}

/** Values that many callers have in common are kept once. */
class Shared<Value> {
  private readonly values = new Map<string, Value>();

  of(name: string, make: (name: string) => Value): Value {
    let value = this.values.get(name);
    if (value === undefined) {
      if (this.values.size >= MAX_SHARED) this.values.clear();
      value = make(name);
      this.values.set(name, value);
    }
    return value;
  }
}

const scopeSets = new Shared<ReadonlySet<string>>();
const limits = new Shared<Limits>();

/** Long ago. */
const REVOKED_MS = 0;

/** A revoked key has ended, whatever the clock says: it may be behind that of who revoked it. */
function toCaller(row: KeyRow): KnownCaller {
  const plan = PLANS[row.plan];
  const perMinute = Number(row.perMinute ?? plan?.perMinute);
  const perDay = Number(row.perDay ?? plan?.perDay);
  // One string where both are the same, as they are of a client's first key.
  const clientId = row.clientId === row.id ? row.id : row.clientId;
  return {
    clientId,
    keyId: row.id,
    plan: row.plan,
    scopes: scopeSets.of(row.scopes, (scopes) => new Set(scopes.split(' '))),
    quota: {
      subject: clientId,
      plan: row.plan,
      limits: limits.of(`${perMinute}/${perDay}`, () => new Limits(perMinute, perDay)),
    },
    expiresAtMs:
      row.revokedAt !== null
        ? REVOKED_MS
        : row.expiresAt === null
          ? Infinity
          : Number(row.expiresAt),
    changedAt: Number(row.changedAt),
    use: new KeyUse(row.id),
  };
}
