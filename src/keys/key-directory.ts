import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../config/clock.js';
import { Engine } from '../database/engine.js';
import { CHANGE_OVERLAP_MS, Poller } from '../database/poller.js';
import { run, Statement, type Work } from '../database/statement.js';
import { Logger } from '../telemetry/logger.js';
import { Limits } from '../rate-limits/limits.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import type { Caller } from './caller.js';

/** Some 300 bytes each. */
const MAX_REMEMBERED = 100_000;
const MAX_SHARED = 1_000;
/** While the database is away, callers are recognised for this long: a revoked one might be among them. */
const TRUSTED_UNSEEN_MS = 300_000;
const LAST_USE_INTERVAL_MS = 5_000;
const LAST_USES_AT_ONCE = 1_000;

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

/** A caller, the state of its key that it was made of, and when the key was last used. */
interface KnownCaller extends Caller {
  readonly changedAt: number;
  /** Unix milliseconds. */
  lastUsedAtMs: number;
  isUseUnsaved: boolean;
}

const FIND = new Statement<KeyRow>(
  'keys.find-by-digest',
  () => `SELECT id, client_id AS "clientId", digest, plan, scopes, per_minute AS "perMinute",
      per_day AS "perDay", expires_at AS "expiresAt", revoked_at AS "revokedAt",
      changed_at AS "changedAt"
    FROM api_keys WHERE digest = $1`,
);
/** Of the last second, a change can still be followed by another one in the same millisecond. */
const CHANGED = new Statement<{
  digest: string;
  changedAt: number | string;
  fresh: boolean | number;
}>(
  'keys.changed',
  ({ nowMs }) =>
    `SELECT digest, changed_at AS "changedAt", changed_at >= ${nowMs} - 1000 AS fresh
      FROM api_keys WHERE changed_at >= ${nowMs} - ${CHANGE_OVERLAP_MS}`,
);
const USED = new Statement(
  'keys.used',
  () => 'UPDATE api_keys SET last_used_at = $1 WHERE id = $2',
);

/** Finds the caller that a key's digest stands for, and remembers it until it changes. */
@Injectable()
export class KeyDirectory implements OnModuleInit, BeforeApplicationShutdown {
  private readonly callers = new Map<string, KnownCaller>();
  private used: KnownCaller[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly poller: Poller,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.poller.watch(async () => {
      for (const { digest, changedAt, fresh } of await this.engine.query(CHANGED)) {
        const known = this.callers.get(digest);
        if (fresh || known?.changedAt !== Number(changedAt)) this.callers.delete(digest);
      }
    });
    this.timer = setInterval(() => void this.saveLastUses(), LAST_USE_INTERVAL_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.saveLastUses();
  }

  /** The caller, where it is known without asking the database. */
  remembered(digest: string): Caller | undefined {
    const caller = this.callers.get(digest);
    if (caller === undefined || this.poller.blindForMs > TRUSTED_UNSEEN_MS) return undefined;
    return this.inForce(caller);
  }

  /** The caller as the database knows it; undefined where no key in force has the digest. */
  async load(digest: string): Promise<Caller | undefined> {
    const row = await this.engine.first(FIND, digest);
    if (row === undefined) return undefined;
    const caller = toCaller(row);
    if (this.callers.size >= MAX_REMEMBERED) this.forgetSome();
    this.callers.set(digest, caller);
    return this.inForce(caller);
  }

  private inForce(caller: KnownCaller): Caller | undefined {
    const nowMs = this.clock.now();
    if (caller.expiresAtMs <= nowMs) return undefined;
    caller.lastUsedAtMs = nowMs;
    if (!caller.isUseUnsaved) {
      caller.isUseUnsaved = true;
      this.used.push(caller);
    }
    return caller;
  }

  /** The longest remembered: a caller that is still here is loaded again, once. */
  private forgetSome(): void {
    let excess = MAX_REMEMBERED / 16;
    for (const digest of this.callers.keys()) {
      if (excess-- <= 0) return;
      this.callers.delete(digest);
    }
  }

  private async saveLastUses(): Promise<void> {
    const { used } = this;
    this.used = [];
    for (const caller of used) caller.isUseUnsaved = false;
    try {
      for (let start = 0; start < used.length; start += LAST_USES_AT_ONCE) {
        // In one order on all nodes: two that wait for each other's rows are a deadlock.
        const batch = used.slice(start, start + LAST_USES_AT_ONCE).sort(byId);
        await this.engine.write(() => saveUses(batch));
      }
    } catch (err) {
      // Only ever a hint for operators: the next use is written down again.
      this.logger.debug({ err }, 'The last use of keys could not be saved');
    }
  }
}

function byId({ keyId: one }: Caller, { keyId: other }: Caller): number {
  return one < other ? -1 : 1;
}

function* saveUses(callers: readonly KnownCaller[]): Work<void> {
  for (const { lastUsedAtMs, keyId } of callers) yield* run(USED, lastUsedAtMs, keyId);
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

/** A revoked key has ended, whatever the clock says: it may be behind that of who revoked it. */
function toCaller(row: KeyRow): KnownCaller {
  const plan = PLANS[row.plan];
  const perMinute = Number(row.perMinute ?? plan?.perMinute);
  const perDay = Number(row.perDay ?? plan?.perDay);
  return {
    keyId: row.id,
    scopes: scopeSets.of(row.scopes, (scopes) => new Set(scopes.split(' '))),
    quota: {
      subject: row.clientId,
      limits: limits.of(`${perMinute}/${perDay}`, () => new Limits(perMinute, perDay, true)),
    },
    expiresAtMs:
      row.revokedAt !== null ? 0 : row.expiresAt === null ? Infinity : Number(row.expiresAt),
    changedAt: Number(row.changedAt),
    lastUsedAtMs: 0,
    isUseUnsaved: false,
  };
}
