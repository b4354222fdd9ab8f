import { Injectable, Optional } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, type FindOptionsWhere, IsNull, Repository } from 'typeorm';
import { rowLock } from '../database/transactions.js';
import { errors } from '../errors/errors.js';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import { type OwnLimits, Plans } from '../rate-limits/plan.js';
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

export interface NewKey extends OwnLimits {
  name: string;
  plan: string;
  scopes?: readonly string[] | undefined;
  /** Unix milliseconds; null or undefined for a key that does not expire. */
  expiresAt?: number | null | undefined;
}

/** The new values of a key. What is left out stays as it is. */
export interface KeyChanges extends Partial<NewKey> {
  disabled?: boolean | undefined;
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
 * Issues, changes and revokes keys. Each change is one transaction with its audit record, and takes
 * effect on every server within a second. A change that is repeated is announced to the servers
 * again.
 */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly audit: AuditTrail,
    private readonly bans: BanRepository,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
    private readonly plans: Plans,
    @Optional() private readonly initiator: Initiator = SERVICE,
  ) {}

  /** Returns a service whose changes are audited as those of `initiator`. */
  by(initiator: Initiator): KeysService {
    const { keys, audit, bans, clock, scopes, plans } = this;
    return new KeysService(keys, audit, bans, clock, scopes, plans, initiator);
  }

  /** @throws {RangeError} */
  async issue(request: NewKey): Promise<IssuedKey> {
    const { name, scopes = DEFAULT_SCOPES, expiresAt = null } = request;
    this.scopes.assertDeclared(scopes);
    const plan = this.plans.choose(request.plan, request);
    const terms = { name, ...plan, scopes: scopes.join(' '), expiresAt };
    return this.audit.write(this.initiator, async (transaction) => {
      const issued = await this.insert(transaction, terms);
      const after = this.termsOf(issued.record);
      const target = issued.record.id;
      await transaction.record({ action: 'key.issue', target, before: null, after });
      return issued;
    });
  }

  /**
   * Issues a new key for the same client, with the same expiry. A key can be rotated again until
   * its successor is used, because the response may have been lost: that successor is revoked.
   * @param graceMs how long the old key stays valid, at most until its expiry
   * @throws {ApiError} 409 `key_already_rotated`, `key_revoked`
   */
  async rotate(id: string, graceMs: number): Promise<RotatedKey> {
    return this.change(id, async (replaced, transaction) => {
      const nowMs = this.clock.now();
      assertInForce(replaced, nowMs);
      const { replacedBy } = replaced;
      const agreed =
        replacedBy === null
          ? replaced.expiresAt
          : await this.withdraw(replaced.id, replacedBy, transaction);
      const terms = { ...replaced, expiresAt: agreed };
      const issued = await this.insert(transaction, terms, replaced.clientId);
      const expiresAt = Math.min(nowMs + graceMs, agreed ?? Infinity);
      const values = { replacedBy: issued.record.id, expiresAt };
      await this.update(transaction, 'key.rotate', replaced, values);
      return { ...issued, replaced };
    });
  }

  async revoke(id: string): Promise<void> {
    await this.change(id, async (key, transaction) => {
      const revokedAt = key.revokedAt ?? this.clock.now();
      await this.update(transaction, 'key.revoke', key, { revokedAt });
    });
  }

  /**
   * Makes changes in one transaction, each with its audit record. The plan is changed for every key
   * of the client.
   * @throws {RangeError} for an unknown plan, limits that do not fit it, or an undeclared scope
   * @throws {ApiError} 409 `key_revoked` if a key that has its end would get another expiry
   */
  async set(id: string, changes: KeyChanges): Promise<void> {
    const { expiresAt, name, plan, scopes, disabled } = changes;
    const terms = plan === undefined ? undefined : this.plans.choose(plan, changes);
    if (scopes !== undefined) this.scopes.assertDeclared(scopes);
    await this.change(id, async (key, transaction) => {
      const set = (action: AuditAction, values: Partial<ApiKey>) =>
        this.update(transaction, action, key, values);
      if (expiresAt !== undefined) {
        assertEndIsOpen(key);
        await set('key.set_expiry', { expiresAt });
      }
      if (name !== undefined) await set('key.rename', { name });
      if (scopes !== undefined) await set('key.set_scopes', { scopes: scopes.join(' ') });
      if (disabled === false) await set('key.enable', { disabledAt: null });
      if (disabled) {
        await set('key.disable', { disabledAt: key.disabledAt ?? this.clock.now() });
      }
      if (terms === undefined) return;
      const keys = await transaction.manager.findBy(ApiKey, { clientId: key.clientId });
      for (const each of keys) await this.update(transaction, 'key.set_plan', each, terms);
    });
  }

  async unban(id: string): Promise<void> {
    await this.change(id, async ({ clientId }, { manager, record }) => {
      const until = await this.bans.lift(clientId, manager);
      if (until <= this.clock.now()) return;
      const states = { before: { bannedUntil: isoTime(until) }, after: { bannedUntil: null } };
      await record({ action: 'key.unban', target: id, ...states });
    });
  }

  /** @throws {ApiError} 404 if there is no such key */
  async get(id: string, manager: EntityManager = this.keys.manager): Promise<ApiKey> {
    const key = await manager.findOneBy(ApiKey, { id });
    if (key === null) throw errors.not_found(`no key has the ID ${id}`);
    return key;
  }

  /**
   * Revokes the successor of a key.
   * @returns its expiry
   * @throws {ApiError} 409 `key_already_rotated` if it was used
   */
  private async withdraw(
    id: string,
    replacedBy: string,
    transaction: AuditedTransaction,
  ): Promise<number | null> {
    const successor = await this.get(replacedBy, transaction.manager);
    const revokedAt = successor.revokedAt ?? this.clock.now();
    const unused = { lastUsedAt: IsNull(), replacedBy: IsNull() };
    if (await this.update(transaction, 'key.revoke', successor, { revokedAt }, unused)) {
      return successor.expiresAt;
    }
    throw errors.key_already_rotated(
      `The key ${id} was already replaced by ${replacedBy}, which has been used`,
    );
  }

  /**
   * Runs `work` on a key with its client locked: the first key of the client, which has the
   * client's id.
   */
  private change<Result>(
    id: string,
    work: (key: ApiKey, transaction: AuditedTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.audit.write(this.initiator, async (transaction) => {
      const { manager } = transaction;
      const { clientId } = await this.get(id, manager);
      await manager.findOne(ApiKey, { where: { id: clientId }, ...rowLock(manager) });
      return work(await this.get(id, manager), transaction);
    });
  }

  /** @param clientId left out for the first key of a client, which gives the client its id */
  private async insert(
    { manager, nowMs }: AuditedTransaction,
    terms: Terms,
    clientId?: string,
  ): Promise<IssuedKey> {
    const id = mintId('key');
    const key = mintKey();
    const record = manager.create(ApiKey, {
      ...terms,
      id,
      clientId: clientId ?? id,
      digest: digestOf(key),
      lastFour: key.slice(-4),
      createdAt: this.clock.now(),
      changedAt: nowMs,
      revokedAt: null,
      disabledAt: null,
      replacedBy: null,
      lastUsedAt: null,
      lastUsedFrom: null,
    });
    await manager.insert(ApiKey, record);
    return { key, record };
  }

  /**
   * Updates a key, with an audit record of the members that differ. Each change of a key gets a
   * later `changedAt`, even if the clock of the database was set back.
   * @param condition further conditions on the row
   * @returns false if the row does not meet the condition
   */
  private async update(
    { manager, nowMs, record }: AuditedTransaction,
    action: AuditAction,
    key: ApiKey,
    values: Partial<ApiKey>,
    condition: FindOptionsWhere<ApiKey> = {},
  ): Promise<boolean> {
    const changedAt = Math.max(nowMs, key.changedAt + 1);
    const row = { id: key.id, ...condition };
    const { affected } = await manager.update(ApiKey, row, { ...values, changedAt });
    if (!affected) return false;
    const old: State = this.stateOf(key);
    Object.assign(key, values, { changedAt });
    const state: State = this.stateOf(key);
    const before = difference(old, state);
    const after = difference(state, old);
    if (Object.keys(after).length > 0) await record({ action, target: key.id, before, after });
    return true;
  }

  /** The members that audit records show. The limits of a plan may differ in a later release. */
  private stateOf(key: ApiKey) {
    return {
      ...this.termsOf(key),
      revokedAt: isoTime(key.revokedAt),
      disabledAt: isoTime(key.disabledAt),
      replacedBy: key.replacedBy,
    };
  }

  private termsOf(key: ApiKey) {
    return {
      name: key.name,
      plan: key.plan,
      ...this.plans.limitsOf(key),
      scopes: key.scopes.split(' ').sort(),
      expiresAt: isoTime(key.expiresAt),
    };
  }
}

/** The members of a state that are not the same in another. */
function difference(state: State, other: State): State {
  const members = Object.entries(state);
  return Object.fromEntries(
    members.filter(([name, value]) => String(value) !== String(other[name])),
  );
}

/** @throws {ApiError} 409 `key_revoked` for a key that was revoked or replaced */
function assertEndIsOpen({ id, replacedBy, revokedAt }: ApiKey): void {
  if (revokedAt !== null) throw errors.key_revoked(`The key ${id} is revoked`);
  if (replacedBy === null) return;
  throw errors.key_revoked(`The key ${id} was replaced by ${replacedBy} and keeps its end`);
}

/** @throws {ApiError} 409 `key_revoked` */
function assertInForce({ id, revokedAt, disabledAt, expiresAt }: ApiKey, nowMs: number): void {
  if (revokedAt !== null) throw errors.key_revoked(`The key ${id} is revoked`);
  if (disabledAt !== null) throw errors.key_revoked(`The key ${id} is disabled`);
  if ((expiresAt ?? Infinity) <= nowMs) throw errors.key_revoked(`The key ${id} has expired`);
}
