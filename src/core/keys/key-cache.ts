import type { BlockList } from 'node:net';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { ChangePoller } from '../database/change-poller.js';
import { Database, sameStatement, type Statement } from '../database/database.js';
import { NOW } from '../database/database-time.js';
import { isOutage } from '../database/database-error.js';
import { clientAddress } from '../http/client-address.js';
import { assertLimits, Plans, unknownPlan } from '../rate-limits/plan.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { withTimeout } from '../time/timeout.js';
import { allowListOf, isAllowed } from './allowed-from.js';
import type { ApiKey } from './api-key.entity.js';
import type { Caller } from './caller.js';
import { LastUses } from './last-uses.js';

const MAX_CALLERS = 100_000;
/**
 * How long cached keys are trusted while the database is down. Trade-off: a key revoked during the
 * outage keeps working.
 */
const TRUSTED_MS = 300_000;
/** Timeout for re-checking a cached key against the database. */
const RECHECK_TIMEOUT_MS = 500;
/** Beyond this number of changes, clearing the cache is cheaper than updating it. */
const MAX_CHANGES = 10_000;
/** Uses of a key within this time are recorded once. */
const USE_INTERVAL_MS = 1000;
/** The expiry of a revoked or disabled key, which is in the past whatever the clock says. */
const REVOKED_MS = 0;

interface KeyRow extends Pick<
  ApiKey,
  | 'id'
  | 'clientId'
  | 'digest'
  | 'plan'
  | 'scopes'
  | 'allowedFrom'
  | 'perMinute'
  | 'perDay'
  | 'expiresAt'
  | 'changedAt'
> {
  /** When the key was revoked or disabled. */
  endedAt: number | null;
  /** A boolean of PostgreSQL, an integer of SQLite. */
  isUnused: unknown;
}

/** The request that uses a key: `clientAddress()` finds its sender. */
type Sender = Parameters<typeof clientAddress>[0];

interface CachedCaller extends Caller {
  /** Differs for each state of a key. */
  changedAt: number;
  /** The addresses that may use the key; undefined if all may. */
  allowList: BlockList | undefined;
  /** The last recorded use, in Unix milliseconds. */
  usedAtMs: number;
  /** The first use must be stored before the key is accepted. */
  isUnused: boolean;
}

export interface RejectedCaller {
  caller: Caller;
  reason: 'revoked' | 'expired' | 'address_not_allowed';
}

/** PostgreSQL's driver returns bigint as text; a double holds these numbers exactly. */
const COLUMNS = `id, client_id AS "clientId", digest, plan, scopes,
  allowed_from AS "allowedFrom", CAST(per_minute AS double precision) AS "perMinute",
  CAST(per_day AS double precision) AS "perDay",
  CAST(expires_at AS double precision) AS "expiresAt",
  CAST(COALESCE(revoked_at, disabled_at) AS double precision) AS "endedAt",
  CAST(changed_at AS double precision) AS "changedAt", last_used_at IS NULL AS "isUnused"`;
const SELECT = `SELECT ${COLUMNS} FROM api_keys WHERE`;
const FIND = sameStatement('keys.find-by-digest', `${SELECT} digest = $1`);
const CHANGED = sameStatement('keys.changed', `${SELECT} changed_at >= $1 LIMIT ${MAX_CHANGES}`);
const PLANS_IN_USE: Statement = {
  name: 'keys.plans',
  sqlite: plansInUse(NOW.sqlite),
  postgres: plansInUse(NOW.postgres),
};

/** Selects the plans of keys that can be used, or can be given another expiry. */
export function plansInUse(now: string): string {
  return `SELECT DISTINCT plan FROM api_keys WHERE revoked_at IS NULL
    AND (expires_at IS NULL OR expires_at > ${now} OR replaced_by IS NULL)`;
}

/**
 * Looks up callers by key digest.
 *
 * The poller looks for changed keys every 300 ms and replaces their cached callers. A cached caller
 * is current while the last complete poll began less than 0.9 s ago; otherwise, for example after
 * this process was paused, it queries the database. So a change takes effect within a second, on
 * every node.
 * While the database is down, cached callers are trusted for up to 5 minutes; other keys are
 * rejected with 503. Unknown keys are never cached.
 *
 * The first use of a key is stored before the key is accepted, so that no node takes a used key for
 * an unused one. Later requests pay nothing for it.
 */
@Injectable()
export class KeyCache implements OnModuleInit {
  /** By digest. When the cache is full, the oldest entry is evicted. */
  private readonly callers = new Map<string, CachedCaller>();
  /** By their texts. Most keys share the same few scopes. */
  private readonly scopes = new Map<string, ReadonlySet<string>>();
  private readonly lookups: Counter<'result'>;

  constructor(
    private readonly database: Database,
    private readonly poller: ChangePoller,
    private readonly clock: Clock,
    private readonly lastUses: LastUses,
    private readonly plans: Plans,
    metrics: Metrics,
  ) {
    this.lookups = metrics.counter({
      name: 'key_cache_total',
      help: 'Key lookups by result: answered from the cache (hit) or by the database (miss).',
      labelNames: ['result'],
    });
    for (const result of ['hit', 'miss']) this.lookups.inc({ result }, 0);
    poller.subscribe((sinceMs) => this.loadChanges(sinceMs));
  }

  /** @throws {Error} if a key has a plan that does not exist */
  async onModuleInit(): Promise<void> {
    for (const { plan } of await this.database.query<{ plan: string }>(PLANS_IN_USE)) {
      if (!this.plans.names.includes(plan)) throw unknownPlan(plan);
    }
  }

  /** Returns the caller of a valid key if the cache is current. */
  getCached(digest: string, sender: Sender): Caller | undefined {
    const cached = this.callers.get(digest);
    if (cached === undefined || !this.poller.isCurrent) return undefined;
    const caller = this.ifValid(cached, sender);
    if (caller !== undefined) this.lookups.inc({ result: 'hit' });
    return caller;
  }

  /** Returns the caller of a key that `load` has rejected, if it was ever valid, and the reason. */
  rejectedCaller(digest: string, sender: Sender): RejectedCaller | undefined {
    const caller = this.callers.get(digest);
    if (caller === undefined) return undefined;
    if (caller.expiresAtMs === REVOKED_MS) return { caller, reason: 'revoked' };
    const isValid = caller.expiresAtMs > this.clock.now() && !allows(caller, sender);
    return { caller, reason: isValid ? 'address_not_allowed' : 'expired' };
  }

  /**
   * Returns the caller of a valid key from the database.
   * @returns undefined if no valid key has the digest
   * @throws the error of the database, if it is down and the cached caller cannot be trusted
   */
  async load(digest: string, sender: Sender): Promise<Caller | undefined> {
    this.lookups.inc({ result: 'miss' });
    if (!this.callers.has(digest)) return this.find(digest, sender);
    try {
      return await withTimeout(RECHECK_TIMEOUT_MS, this.find(digest, sender));
    } catch (error) {
      const latest = this.callers.get(digest);
      const isTrusted = isOutage(error) && this.poller.staleForMs <= TRUSTED_MS;
      if (latest === undefined || latest.isUnused || !isTrusted) throw error;
      return this.ifValid(latest, sender);
    }
  }

  private async find(digest: string, sender: Sender): Promise<Caller | undefined> {
    let found = await this.read(digest);
    if (found?.isUnused && found.expiresAtMs > this.clock.now() && allows(found, sender)) {
      const use = { atMs: this.clock.now(), address: clientAddress(sender) };
      await this.lastUses.recordFirst(found.keyId, use);
      found = await this.read(digest);
    }
    if (found === undefined) {
      // A successor that was never used may have been replaced.
      this.callers.delete(digest);
      return undefined;
    }
    const cached = this.callers.get(digest);
    // The poller may have loaded a later state since the query began.
    const latest = cached && cached.changedAt > found.changedAt ? cached : found;
    if (cached === undefined && this.callers.size >= MAX_CALLERS) {
      const [first] = this.callers.keys();
      this.callers.delete(first!);
    }
    this.callers.set(digest, latest);
    return this.ifValid(latest, sender);
  }

  private async read(digest: string): Promise<CachedCaller | undefined> {
    const [row] = await this.database.query<KeyRow>(FIND, digest);
    return row && this.toCached(row);
  }

  /** @param sinceMs by the database's clock; undefined if every key may have changed */
  private async loadChanges(sinceMs: number | undefined): Promise<void> {
    if (sinceMs === undefined) return this.callers.clear();
    const rows = await this.database.poll<KeyRow>(CHANGED, sinceMs);
    if (rows.length === MAX_CHANGES) this.callers.clear();
    for (const row of rows) {
      const cached = this.callers.get(row.digest);
      if (cached === undefined || cached.changedAt === row.changedAt) continue;
      this.callers.set(row.digest, this.toCached(row));
    }
  }

  private ifValid(caller: CachedCaller, sender: Sender): Caller | undefined {
    const nowMs = this.clock.now();
    if (caller.expiresAtMs <= nowMs || caller.isUnused) return undefined;
    if (!allows(caller, sender)) return undefined;
    assertLimits(caller.quota.limits, caller.plan);
    if (nowMs - caller.usedAtMs >= USE_INTERVAL_MS) {
      caller.usedAtMs = nowMs;
      this.lastUses.record(caller.keyId, { atMs: nowMs, address: clientAddress(sender) });
    }
    return caller;
  }

  private toCached(row: KeyRow): CachedCaller {
    const { id, clientId, plan, expiresAt, endedAt, changedAt } = row;
    const scopes = this.scopes.get(row.scopes) ?? new Set(row.scopes.match(/\S+/g));
    this.scopes.set(row.scopes, scopes);
    const quota = { key: clientId, limits: this.plans.limitsOf(row) };
    const expiresAtMs = endedAt === null ? (expiresAt ?? Infinity) : REVOKED_MS;
    const isUnused = Boolean(row.isUnused);
    // Without spreads, for which V8 makes a dictionary: 450 instead of 100 bytes, and a slower get.
    return {
      clientId,
      keyId: id,
      plan,
      scopes,
      quota,
      expiresAtMs,
      changedAt,
      allowList: allowListOf(row.allowedFrom),
      usedAtMs: 0,
      isUnused,
    };
  }
}

/** The address is found only for a key that has a list. */
function allows({ allowList }: CachedCaller, sender: Sender): boolean {
  return allowList === undefined || isAllowed(allowList, clientAddress(sender));
}
