import { Injectable, Optional } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, Repository } from 'typeorm';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import { Clock } from '../time/clock.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, mintId, mintKey } from './api-key-format.js';
import { type Initiator, isoTime, SERVICE } from './audit-record.entity.js';
import { type AuditedTransaction, AuditTrail } from './audit-trail.js';
import { assertAhead, type OwnLimits, planOf } from './key-request.js';
import { DEFAULT_SCOPES, Scopes } from './scopes.js';

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

export class UnknownKeyError extends Error {
  constructor(id: string) {
    super(`There is no key with the id ${id}`);
  }
}

/** The state of the key does not allow the change. */
export class KeyStateError extends Error {}

type Limits = Pick<ApiKey, 'plan' | 'perMinute' | 'perDay'>;
type Terms = Limits & Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>;

/**
 * Issues, changes and revokes keys. Each change is one transaction with its audit record, and takes effect on
 * every server within a second. A change that is repeated is announced to the servers again.
 */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly audit: AuditTrail,
    private readonly store: RateLimitStore,
    private readonly bans: BanRepository,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
    @Optional() private readonly initiator: Initiator = SERVICE,
  ) {}

  /** Returns a service whose changes are audited as those of `initiator`. */
  by(initiator: Initiator): KeysService {
    const { keys, audit, store, bans, clock, scopes } = this;
    return new KeysService(keys, audit, store, bans, clock, scopes, initiator);
  }

  /** @throws {KeyRequestError} */
  async issue(request: NewKey): Promise<IssuedKey> {
    const { name, scopes = DEFAULT_SCOPES, expiresAt = null } = request;
    this.scopes.assertDeclared(scopes);
    assertAhead(request.expiresAt, this.clock.now());
    const plan = planOf(request.plan, request);
    return this.audit.write(this.initiator, async ({ manager, nowMs, record }) => {
      const terms = { name, ...plan, scopes: scopes.join(' '), expiresAt };
      const issued = await this.insert(manager, nowMs, terms);
      const after = { name, ...planState(plan), scopes, expiresAt: isoTime(expiresAt) };
      await record({ action: 'key.issue', target: issued.record.id, before: null, after });
      return issued;
    });
  }

  /**
   * Issues a new key for the same client, with the same expiry.
   * @param graceMs how long the old key stays valid, at most until its expiry
   * @throws {KeyStateError} if the key is replaced, revoked or expired
   */
  async rotate(id: string, graceMs: number): Promise<RotatedKey> {
    return this.audit.write(this.initiator, async ({ manager, nowMs, record }) => {
      const replaced = await lockClient(manager, id);
      const now = this.clock.now();
      assertRotatable(replaced, now);
      const { clientId, expiresAt } = replaced;
      const issued = await this.insert(manager, nowMs, replaced, clientId);
      const replacedBy = issued.record.id;
      const endsAt = Math.min(now + graceMs, expiresAt ?? Infinity);
      await update(manager, nowMs, replaced, { replacedBy, expiresAt: endsAt });
      const before = { replacedBy: null, expiresAt: isoTime(expiresAt) };
      const after = { replacedBy, expiresAt: isoTime(endsAt) };
      await record({ action: 'key.rotate', target: id, before, after });
      return { ...issued, replaced };
    });
  }

  async revoke(id: string): Promise<ApiKey> {
    return this.change(id, async (key, { manager, nowMs, record }) => {
      const isRevoked = key.revokedAt !== null;
      await update(manager, nowMs, key, { revokedAt: key.revokedAt ?? this.clock.now() });
      if (isRevoked) return;
      const [before, after] = [{ revokedAt: null }, { revokedAt: isoTime(key.revokedAt) }];
      await record({ action: 'key.revoke', target: id, before, after });
    });
  }

  /** Changes the plan of every key of the client. @throws {KeyRequestError} */
  async setPlan(id: string, plan: PlanName, own: OwnLimits): Promise<ApiKey> {
    const wanted = planOf(plan, own);
    await this.change(id, async ({ clientId }, { manager, nowMs, record }) => {
      for (const key of await manager.find(ApiKey, { where: { clientId }, order: { id: 'ASC' } })) {
        const [before, after] = [planState(key), planState(wanted)];
        await update(manager, nowMs, key, wanted);
        if (JSON.stringify(before) === JSON.stringify(after)) continue;
        await record({ action: 'key.set_plan', target: key.id, before, after });
      }
    });
    return this.get(id);
  }

  /** @throws {KeyRequestError} */
  async setScopes(id: string, scopes: readonly string[]): Promise<ApiKey> {
    this.scopes.assertDeclared(scopes);
    return this.change(id, async (key, { manager, nowMs, record }) => {
      const old = key.scopes.split(' ');
      const isSame = old.length === scopes.length && scopes.every((scope) => old.includes(scope));
      await update(manager, nowMs, key, isSame ? {} : { scopes: scopes.join(' ') });
      if (isSame) return;
      const [before, after] = [{ scopes: old }, { scopes }];
      await record({ action: 'key.set_scopes', target: id, before, after });
    });
  }

  async unban(id: string): Promise<ApiKey> {
    const key = await this.change(id, async ({ clientId }, { manager, record }) => {
      const until = await this.bans.lift(clientId, manager);
      if (until <= this.clock.now()) return;
      const [before, after] = [{ bannedUntil: isoTime(until) }, { bannedUntil: null }];
      await record({ action: 'key.unban', target: id, before, after });
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

  private change(
    id: string,
    work: (key: ApiKey, transaction: AuditedTransaction) => Promise<void>,
  ): Promise<ApiKey> {
    return this.audit.write(this.initiator, async (transaction) => {
      const key = await lockClient(transaction.manager, id);
      await work(key, transaction);
      return key;
    });
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
 * the client, which has the id of the client. SQLite has one writer at a time and needs no lock.
 */
async function lockClient(manager: EntityManager, id: string): Promise<ApiKey> {
  const key = await manager.findOneBy(ApiKey, { id });
  if (key === null) throw new UnknownKeyError(id);
  if (manager.dataSource.options.type !== 'postgres') return key;
  const lock = { mode: 'pessimistic_write' as const };
  await manager.findOne(ApiKey, { where: { id: key.clientId }, lock });
  return manager.findOneByOrFail(ApiKey, { id });
}

/** Each change of a key gets a later `changedAt`, even if the clock of the database was set back. */
async function update(
  manager: EntityManager,
  nowMs: number,
  key: ApiKey,
  values: Partial<ApiKey>,
): Promise<void> {
  Object.assign(key, values, { changedAt: Math.max(nowMs, key.changedAt + 1) });
  await manager.update(ApiKey, { id: key.id }, { ...values, changedAt: key.changedAt });
}

/** @throws {KeyStateError} */
function assertRotatable({ id, replacedBy, revokedAt, expiresAt }: ApiKey, nowMs: number): void {
  if (replacedBy !== null) throw new KeyStateError(`The key ${id} is replaced by ${replacedBy}`);
  if (revokedAt !== null) throw new KeyStateError(`The key ${id} is revoked`);
  if ((expiresAt ?? Infinity) <= nowMs) throw new KeyStateError(`The key ${id} is expired`);
}

/** A plan with its limits, which may differ in a later release. */
function planState({ plan, perMinute, perDay }: Limits) {
  return { plan, ...(PLANS[plan] ?? { perMinute, perDay }) };
}
