import { Injectable, Optional } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, mintId, mintKey } from './api-key-format.js';
import {
  type AuditAction,
  type Initiator,
  isoTime,
  SERVICE,
  type State,
} from './audit-record.entity.js';
import { type AuditedTransaction, AuditTrail } from './audit-trail.js';
import { DEFAULT_SCOPES, Scopes } from './scopes.js';

/** Limits of a key itself: required with the plan enterprise, and not allowed with any other. */
export interface OwnLimits {
  perMinute?: number | undefined;
  perDay?: number | undefined;
}

export interface NewKey extends OwnLimits {
  name: string;
  plan: PlanName;
  scopes?: readonly string[];
  expiresAt?: number | undefined;
}

export interface IssuedKey {
  /** The key itself, which is not stored and cannot be shown again. */
  key: string;
  record: ApiKey;
}

export interface RotatedKey extends IssuedKey {
  /** The old key with its new expiry. */
  replaced: ApiKey;
}

type Terms = Pick<ApiKey, 'name' | 'plan' | 'perMinute' | 'perDay' | 'scopes' | 'expiresAt'>;

/**
 * Issues, changes and revokes keys. Each change is one transaction with its audit record, and takes effect on
 * every server within a second. A change that is repeated is announced to the servers again.
 */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly audit: AuditTrail,
    private readonly bans: BanRepository,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
    @Optional() private readonly initiator: Initiator = SERVICE,
  ) {}

  /** Returns a service whose changes are audited as those of `initiator`. */
  by(initiator: Initiator): KeysService {
    const { keys, audit, bans, clock, scopes } = this;
    return new KeysService(keys, audit, bans, clock, scopes, initiator);
  }

  /** @throws {RangeError} */
  async issue(request: NewKey): Promise<IssuedKey> {
    const { name, scopes = DEFAULT_SCOPES, expiresAt = null } = request;
    this.scopes.assertDeclared(scopes);
    const terms = {
      ...{ name, scopes: scopes.join(' '), expiresAt },
      ...planOf(request.plan, request),
    };
    return this.audit.write(this.initiator, async ({ manager, nowMs, record }) => {
      const issued = await this.insert(manager, nowMs, terms);
      await record('key.issue', issued.record.id, null, { name, ...termsOf(terms) });
      return issued;
    });
  }

  /**
   * Issues a new key for the same client, with the same expiry.
   * @param graceMs how long the old key stays valid, at most until its expiry
   * @throws {Error} if the key is replaced, revoked or expired
   */
  async rotate(id: string, graceMs: number): Promise<RotatedKey> {
    return this.change(id, async (replaced, transaction) => {
      const { manager, nowMs } = transaction;
      const now = this.clock.now();
      assertRotatable(replaced, now);
      const issued = await this.insert(manager, nowMs, replaced, replaced.clientId);
      const expiresAt = Math.min(now + graceMs, replaced.expiresAt ?? Infinity);
      const values = { replacedBy: issued.record.id, expiresAt };
      await update(transaction, 'key.rotate', replaced, values);
      return { ...issued, replaced };
    });
  }

  async revoke(id: string): Promise<ApiKey> {
    return this.change(id, (key, transaction) => {
      const revokedAt = key.revokedAt ?? this.clock.now();
      return update(transaction, 'key.revoke', key, { revokedAt });
    });
  }

  /** Changes the plan of every key of the client. @throws {RangeError} */
  async setPlan(id: string, plan: PlanName, own: OwnLimits): Promise<ApiKey> {
    const wanted = planOf(plan, own);
    await this.change(id, async ({ clientId }, transaction) => {
      const { manager } = transaction;
      for (const key of await manager.find(ApiKey, { where: { clientId }, order: { id: 'ASC' } })) {
        await update(transaction, 'key.set_plan', key, wanted);
      }
    });
    return this.get(id);
  }

  /** @throws {RangeError} */
  async setScopes(id: string, scopes: readonly string[]): Promise<ApiKey> {
    this.scopes.assertDeclared(scopes);
    return this.change(id, (key, transaction) =>
      update(transaction, 'key.set_scopes', key, { scopes: scopes.join(' ') }),
    );
  }

  async unban(id: string): Promise<ApiKey> {
    return this.change(id, async (found, { manager, record }) => {
      const until = await this.bans.lift(found.clientId, manager);
      const before = { bannedUntil: isoTime(until) };
      if (until > this.clock.now()) await record('key.unban', id, before, { bannedUntil: null });
      return found;
    });
  }

  /** @throws {Error} if there is no such key */
  async get(id: string): Promise<ApiKey> {
    return existing(await this.keys.findOneBy({ id }), id);
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.keys.exists());
  }

  private change<Result>(
    id: string,
    work: (key: ApiKey, transaction: AuditedTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.audit.write(this.initiator, async (transaction) =>
      work(await lockClient(transaction.manager, id), transaction),
    );
  }

  /** @param clientId left out for the first key of a client, which gives the client its id */
  private async insert(
    manager: EntityManager,
    nowMs: number,
    { name, plan, perMinute, perDay, scopes, expiresAt }: Terms,
    clientId?: string,
  ): Promise<IssuedKey> {
    const [id, key] = [mintId('key'), mintKey()];
    const record = manager.create(ApiKey, {
      ...{ id, clientId: clientId ?? id, digest: digestOf(key), lastFour: key.slice(-4) },
      ...{ name, plan, perMinute, perDay, scopes, expiresAt },
      ...{ createdAt: this.clock.now(), changedAt: nowMs },
      ...{ revokedAt: null, replacedBy: null, lastUsedAt: null },
    });
    await manager.insert(ApiKey, record);
    return { key, record };
  }
}

/**
 * Returns a key whose client no other transaction changes until this one ends. The lock is on the first key of
 * the client, which has the id of the client.
 */
async function lockClient(manager: EntityManager, id: string): Promise<ApiKey> {
  const { clientId } = existing(await manager.findOneBy(ApiKey, { id }), id);
  const lock = { mode: 'pessimistic_write' as const };
  await manager.findOne(ApiKey, { where: { id: clientId }, lock });
  return manager.findOneByOrFail(ApiKey, { id });
}

function existing(key: ApiKey | null, id: string): ApiKey {
  if (key === null) throw new Error(`no key has the ID ${id}`);
  return key;
}

/**
 * Updates a key, with an audit record of the members that differ. Each change of a key gets a later `changedAt`, even if
 * the clock of the database was set back.
 */
async function update(
  { manager, nowMs, record }: AuditedTransaction,
  action: AuditAction,
  key: ApiKey,
  values: Partial<ApiKey>,
): Promise<ApiKey> {
  const old: State = stateOf(key);
  Object.assign(key, values, { changedAt: Math.max(nowMs, key.changedAt + 1) });
  await manager.update(ApiKey, { id: key.id }, { ...values, changedAt: key.changedAt });
  const state: State = stateOf(key);
  const names = Object.keys(old).filter((name) => String(old[name]) !== String(state[name]));
  const pick = (from: State): State => Object.fromEntries(names.map((name) => [name, from[name]!]));
  if (names.length > 0) await record(action, key.id, pick(old), pick(state));
  return key;
}

/** The members that audit records show. The limits of a plan may differ in a later release. */
function stateOf(key: ApiKey) {
  const { revokedAt, replacedBy } = key;
  return { ...termsOf(key), revokedAt: isoTime(revokedAt), replacedBy };
}

function termsOf({ plan, perMinute, perDay, scopes, expiresAt }: Terms) {
  const limits = PLANS[plan] ?? { perMinute, perDay };
  return { plan, ...limits, scopes: scopes.split(' ').sort(), expiresAt: isoTime(expiresAt) };
}

/** @throws {Error} */
function assertRotatable({ id, replacedBy, revokedAt, expiresAt }: ApiKey, nowMs: number): void {
  if (replacedBy !== null) throw new Error(`key ${id} was already replaced by ${replacedBy}`);
  if (revokedAt !== null) throw new Error(`key ${id} is revoked`);
  if ((expiresAt ?? Infinity) <= nowMs) throw new Error(`key ${id} has expired`);
}

/** Returns the plan and limits to store. @throws {RangeError} if they do not fit together */
export function planOf(plan: PlanName, { perMinute, perDay }: OwnLimits) {
  if (PLANS[plan] === undefined) {
    if (perMinute === undefined || perDay === undefined) {
      throw new RangeError(`the plan ${plan} requires --per-minute and --per-day`);
    }
    return { plan, perMinute, perDay };
  }
  if (perMinute !== undefined || perDay !== undefined) {
    throw new RangeError(`the plan ${plan} does not accept --per-minute or --per-day`);
  }
  return { plan, perMinute: null, perDay: null };
}
