import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../time/clock.js';
import { run } from '../database/statement.js';
import { BanLedger } from '../rate-limits/bans/ban-ledger.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { ApiKey } from './api-key.entity.js';
import { mintId, mintKey } from './api-key-format.js';
import { assertAhead, type OwnLimits, planOf } from './key-request.js';
import { type Initiator, isoTime, SERVICE, type State } from './audit-record.js';
import { AuditTrail } from './audit-trail.js';
import {
  END,
  insert,
  type NewRow,
  type PlanRow,
  REPLACE,
  REVOKE,
  SCOPES_OF,
  SET_PLAN,
  SET_SCOPES,
  TELL_AGAIN,
  WITH_OTHER_PLAN,
} from './key-statements.js';
import { DEFAULT_SCOPES, Scopes } from './scopes.js';

export interface NewKey extends OwnLimits {
  name: string;
  plan: PlanName;
  scopes?: readonly string[];
  expiresAt?: number | undefined;
}

/** A key at its issue: the only time that the key itself is told. */
export interface IssuedKey {
  key: string;
  record: ApiKey;
}

export interface RotatedKey extends IssuedKey {
  /** The key that it replaces, with the end that it has now. */
  replaced: ApiKey;
}

/** No key has that id. */
export class UnknownKeyError extends Error {
  constructor(id: string) {
    super(`There is no key with the id ${id}`);
  }
}

/** The change makes no sense for the key as it is. */
export class KeyStateError extends Error {}

/**
 * The life of API keys, from issue to revocation. Running servers notice each change within a second, one that is
 * asked for again as well.
 */
@Injectable()
export class KeysService {
  private initiator: Initiator = SERVICE;

  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly audit: AuditTrail,
    private readonly store: RateLimitStore,
    private readonly bans: BanLedger,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
  ) {}

  /** The same, on somebody else's behalf. */
  by(initiator: Initiator): KeysService {
    const { keys, audit, store, bans, clock, scopes } = this;
    const service = new KeysService(keys, audit, store, bans, clock, scopes);
    service.initiator = initiator;
    return service;
  }

  /** @throws {KeyRequestError} */
  async issue(request: NewKey): Promise<IssuedKey> {
    const { name, scopes = DEFAULT_SCOPES, expiresAt } = request;
    const nowMs = this.clock.now();
    this.scopes.assertDeclared(scopes);
    assertAhead(expiresAt, nowMs);
    const plan = planOf(request.plan, request);
    const [id, key] = [mintId('key'), mintKey()];
    const common = { clientId: id, name, scopes: scopes.join(' '), expiresAt: expiresAt ?? null };
    const row = { id, key, nowMs, ...common, ...plan };
    await this.audit.write(this.initiator, function* (note) {
      yield* insert(row);
      yield* note({ action: 'key.issue', target: id, before: null, after: stateOf(row) });
    });
    return { key, record: await this.get(id) };
  }

  /**
   * A new key for the same client, with the same end; the old one stays valid for `graceMs`, at most.
   * @throws {KeyStateError}
   */
  async rotate(id: string, graceMs: number): Promise<RotatedKey> {
    const nowMs = this.clock.now();
    const [successor, key] = [mintId('key'), mintKey()];
    const isReplaced = await this.audit.write(this.initiator, function* (note) {
      const [old] = yield* run(REPLACE, successor, id, nowMs);
      if (old === undefined) return false;
      yield* insert({ ...old, id: successor, key, nowMs });
      const [ended] = yield* run(END, nowMs + graceMs, nowMs + graceMs, id);
      yield* note({
        action: 'key.rotate',
        target: id,
        before: { replacedBy: null, expiresAt: isoTime(old.expiresAt) },
        after: { replacedBy: successor, expiresAt: isoTime(ended!.expiresAt) },
      });
      return true;
    });
    const replaced = await this.get(id);
    if (!isReplaced) throw new KeyStateError(`The key ${id} ${whyNotRotated(replaced)}`);
    return { key, record: await this.get(successor), replaced };
  }

  async revoke(id: string): Promise<ApiKey> {
    const { clientId } = await this.get(id);
    const nowMs = this.clock.now();
    await this.audit.write(this.initiator, function* (note) {
      const [revoked] = yield* run(REVOKE, nowMs, id);
      if (revoked === undefined) {
        yield* run(TELL_AGAIN, clientId);
        return;
      }
      const after = { revokedAt: isoTime(revoked.revokedAt) };
      yield* note({ action: 'key.revoke', target: id, before: { revokedAt: null }, after });
    });
    return this.get(id);
  }

  /** A plan is the client's: every key of it gets it. @throws {KeyRequestError} */
  async setPlan(id: string, plan: PlanName, own: OwnLimits): Promise<ApiKey> {
    const { perMinute, perDay } = planOf(plan, own);
    const { clientId } = await this.get(id);
    const values = [plan, perMinute, perDay] as const;
    await this.audit.write(this.initiator, function* (note) {
      let isChanged = false;
      // Again, until there is none: a rotation that was under way may have copied the plan of before.
      for (;;) {
        const others = yield* run(WITH_OTHER_PLAN, clientId, ...values);
        if (others.length === 0) break;
        for (const old of others) {
          const read = [old.plan, old.perMinute, old.perDay] as const;
          if ((yield* run(SET_PLAN, ...values, old.id, ...read)).length === 0) continue;
          isChanged = true;
          const [before, after] = [planState(old), planState({ plan, perMinute, perDay })];
          yield* note({ action: 'key.set_plan', target: old.id, before, after });
        }
      }
      if (!isChanged) yield* run(TELL_AGAIN, clientId);
    });
    return this.get(id);
  }

  /** @throws {KeyRequestError} */
  async setScopes(id: string, scopes: readonly string[]): Promise<ApiKey> {
    this.scopes.assertDeclared(scopes);
    const { clientId } = await this.get(id);
    const text = scopes.join(' ');
    await this.audit.write(this.initiator, function* (note) {
      for (;;) {
        const [old] = yield* run(SCOPES_OF, id);
        if (isSameSet(old!.scopes.split(' '), scopes)) {
          yield* run(TELL_AGAIN, clientId);
          return;
        }
        if ((yield* run(SET_SCOPES, text, id, old!.scopes)).length === 0) continue;
        const [before, after] = [{ scopes: old!.scopes.split(' ') }, { scopes }];
        yield* note({ action: 'key.set_scopes', target: id, before, after });
        return;
      }
    });
    return this.get(id);
  }

  async unban(id: string): Promise<ApiKey> {
    const key = await this.get(id);
    const { bans } = this;
    const nowMs = this.clock.now();
    await this.audit.write(this.initiator, function* (note) {
      const until = yield* bans.lifting(key.clientId);
      if (until <= nowMs) return;
      const [before, after] = [{ bannedUntil: isoTime(until) }, { bannedUntil: null }];
      yield* note({ action: 'key.unban', target: id, before, after });
    });
    await this.store.unban(key.clientId);
    return key;
  }

  /** @throws {UnknownKeyError} */
  async get(id: string): Promise<ApiKey> {
    const key = await this.keys.findOneBy({ id });
    if (key === null) throw new UnknownKeyError(id);
    return key;
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.keys.exists());
  }
}

/** What of a new key is no secret. */
function stateOf(row: NewRow): State {
  const { name, scopes, expiresAt } = row;
  return { name, ...planState(row), scopes: scopes.split(' '), expiresAt: isoTime(expiresAt) };
}

/** With the limits that a plan has at the time: they may be others one day. */
function planState({ plan, perMinute, perDay }: Pick<PlanRow, 'plan' | 'perMinute' | 'perDay'>) {
  return { plan, ...(PLANS[plan] ?? { perMinute: Number(perMinute), perDay: Number(perDay) }) };
}

function whyNotRotated({ replacedBy, revokedAt }: ApiKey): string {
  if (replacedBy !== null) return `is replaced already, by ${replacedBy}`;
  return revokedAt === null ? 'is expired' : 'is revoked';
}

function isSameSet(some: readonly string[], others: readonly string[]): boolean {
  const set = new Set(some);
  return set.size === new Set(others).size && others.every((each) => set.has(each));
}
