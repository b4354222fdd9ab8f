import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { errors } from '../errors/errors.js';
import { invalidRequest } from '../input/invalid-request.js';
import { BanRepository } from '../rate-limits/bans/ban.repository.js';
import { type OwnLimits, Plans } from '../rate-limits/plan.js';
import { Clock } from '../time/clock.js';
import { isoTime } from '../time/windows.js';
import { ADDRESS_LIST, parseAddresses } from './allowed-from.js';
import { ApiKey } from './api-key.entity.js';
import { type Initiator, SERVICE } from './audit-record.entity.js';
import { AuditTrail } from './audit-trail.js';
import { findKey, type IssuedKey, KeyTransaction } from './key-transaction.js';
import { Scopes } from './scopes.js';

/**
 * Keys of one client that can still be used: enough for a rotation each hour with a grace period of
 * a day, and few enough to be changed together.
 */
const MAX_USABLE = 30;

export interface NewKey extends OwnLimits {
  name: string;
  plan: string;
  scopes?: readonly string[] | undefined;
  /** Addresses and CIDR ranges that may use the key, at most 50. Empty: any. */
  allowedFrom?: readonly string[] | undefined;
  /** Unix milliseconds; null or undefined for a key that does not expire. */
  expiresAt?: number | null | undefined;
}

/** The new values of a key. What is left out stays as it is. */
interface KeyChanges extends Partial<NewKey> {
  disabled?: boolean | undefined;
}

export interface RotatedKey extends IssuedKey {
  /** The old key with its new expiry. */
  replaced: ApiKey;
}

/**
 * Issues, changes and revokes keys. Each change is one transaction with its audit record, and takes
 * effect on every server within a second. A change that is repeated is announced to the servers
 * again.
 */
@Injectable()
export class KeysService {
  constructor(
    private readonly audit: AuditTrail,
    private readonly bans: BanRepository,
    private readonly clock: Clock,
    private readonly scopes: Scopes,
    private readonly plans: Plans,
  ) {}

  /** @throws {ApiError} 400 for an unknown plan, wrong limits, an undeclared scope or no address */
  async issue(request: NewKey, by = SERVICE): Promise<IssuedKey> {
    const { name, scopes = this.scopes.defaults, allowedFrom = [], expiresAt = null } = request;
    this.scopes.assertDeclared(scopes);
    const plan = this.plans.choose(request.plan, request);
    const createdAt = this.clock.now();
    const lists = { scopes: scopes.join(' '), allowedFrom: storedListOf(allowedFrom) };
    const terms = { name, ...plan, ...lists, createdAt, expiresAt };
    return this.write(by, (keys) => keys.issue(terms));
  }

  /**
   * Issues a new key for the same client, with the same expiry. A key can be rotated again until
   * its successor is used, because the response may have been lost: that successor is deleted. The
   * holder of a key can only repeat its own rotation, and only until an operator changes the
   * successor: the key may have leaked.
   * @param graceMs how long the old key stays valid, at most until its expiry
   * @throws {ApiError} 409 `key_already_rotated`, `key_revoked`
   */
  async rotate(id: string, graceMs: number, by = SERVICE): Promise<RotatedKey> {
    return this.write(by, async (keys) => {
      const replaced = await keys.lock(id);
      const nowMs = this.clock.now();
      assertInForce(replaced, nowMs);
      const withdrawableBy = by.actor.type === 'key' ? id : null;
      const agreed = await withdrawSuccessor(replaced, withdrawableBy, keys);
      const { length } = await keys.findUsable(replaced.clientId, nowMs);
      if (length >= MAX_USABLE) {
        throw errors.key_already_rotated(
          `The client already has ${length} valid keys: revoke one, or wait until a grace period ` +
            'ends',
        );
      }
      const terms = { ...replaced, createdAt: nowMs, expiresAt: agreed, withdrawableBy };
      const issued = await keys.insert(terms);
      const expiresAt = Math.min(nowMs + graceMs, agreed ?? Infinity);
      await keys.update('key.rotate', replaced, { replacedBy: issued.record.id, expiresAt });
      return { ...issued, replaced };
    });
  }

  async revoke(id: string, by = SERVICE): Promise<void> {
    await this.write(by, async (keys) => {
      const key = await keys.lock(id);
      await keys.update('key.revoke', key, { revokedAt: key.revokedAt ?? this.clock.now() });
    });
  }

  /**
   * Makes changes in one transaction, each with its audit record. The plan is changed for this key
   * and every key of the client that can still be used.
   * @throws {ApiError} 400 for an unknown plan, wrong limits, an undeclared scope or no address
   * @throws {ApiError} 409 `key_revoked` if a key that has its end would get another expiry, or one
   *   that is revoked would be disabled or enabled
   */
  async set(id: string, changes: KeyChanges, by = SERVICE): Promise<void> {
    const { expiresAt, name, plan, scopes, disabled } = changes;
    const allowedFrom = changes.allowedFrom && storedListOf(changes.allowedFrom);
    const terms = plan === undefined ? undefined : this.plans.choose(plan, changes);
    if (scopes !== undefined) this.scopes.assertDeclared(scopes);
    await this.write(by, async (keys) => {
      const key = await keys.lock(id);
      if (expiresAt !== undefined) {
        assertEndIsOpen(key);
        await keys.update('key.set_expiry', key, { expiresAt });
      }
      if (name !== undefined) await keys.update('key.rename', key, { name });
      if (scopes !== undefined) {
        await keys.update('key.set_scopes', key, { scopes: scopes.join(' ') });
      }
      if (allowedFrom !== undefined) await keys.update('key.set_from', key, { allowedFrom });
      if (disabled !== undefined) assertNotRevoked(key);
      if (disabled === false) await keys.update('key.enable', key, { disabledAt: null });
      if (disabled) {
        const disabledAt = key.disabledAt ?? this.clock.now();
        await keys.update('key.disable', key, { disabledAt });
      }
      if (terms === undefined) return;
      await keys.update('key.set_plan', key, terms);
      for (const each of await keys.findUsable(key.clientId, this.clock.now())) {
        if (each.id !== id) await keys.update('key.set_plan', each, terms);
      }
    });
  }

  async unban(id: string, by = SERVICE): Promise<void> {
    await this.write(by, async (keys) => {
      const { clientId, changedAt } = await keys.lock(id);
      const { manager, nowMs, record } = keys.audited;
      const until = await this.bans.lift(clientId, nowMs, manager);
      if (until <= this.clock.now()) return;
      const states = { before: { bannedUntil: isoTime(until) }, after: { bannedUntil: null } };
      const atMs = Math.max(nowMs, changedAt + 1);
      await record({ action: 'key.unban', target: id, ...states }, atMs);
    });
  }

  private write<Result>(
    by: Initiator,
    work: (keys: KeyTransaction) => Promise<Result>,
  ): Promise<Result> {
    return this.audit.write(by, (audited) => work(new KeyTransaction(audited, this.plans)));
  }
}

/** @throws {ApiError} 400 for an entry that is no address, and more than 50 */
function storedListOf(addresses: readonly string[]): string {
  const parsed = parseAddresses(addresses);
  if (parsed === undefined) throw invalidRequest([`allowedFrom must be ${ADDRESS_LIST}`]);
  return parsed.join(' ');
}

/**
 * Deletes the successor of a key, if it has one.
 * @param withdrawableBy the id of the key, if its holder rotates it
 * @returns the agreed expiry, from before the first rotation
 * @throws {ApiError} 409 `key_already_rotated` if the successor must stay
 */
async function withdrawSuccessor(
  { id, replacedBy, expiresAt }: ApiKey,
  withdrawableBy: string | null,
  { audited: { manager } }: KeyTransaction,
): Promise<number | null> {
  if (replacedBy === null) return expiresAt;
  const successor = await findKey(manager, replacedBy);
  const unused = { id: replacedBy, lastUsedAt: IsNull(), replacedBy: IsNull() };
  const row = withdrawableBy === null ? unused : { ...unused, withdrawableBy };
  const { affected } = await manager.delete(ApiKey, row);
  if (affected) return successor.expiresAt;
  throw errors.key_already_rotated(
    `The key ${id} was already replaced by ${replacedBy}, which was used, or rotated or changed ` +
      'by an operator',
  );
}

/** @throws {ApiError} 409 `key_revoked` for a key that was revoked or replaced */
function assertEndIsOpen(key: ApiKey): void {
  assertNotRevoked(key);
  const { id, replacedBy } = key;
  if (replacedBy === null) return;
  throw errors.key_revoked(`The key ${id} was replaced by ${replacedBy} and keeps its end`);
}

/** @throws {ApiError} 409 `key_revoked` */
function assertNotRevoked({ id, revokedAt }: ApiKey): void {
  if (revokedAt !== null) throw errors.key_revoked(`The key ${id} is revoked`);
}

/** @throws {ApiError} 409 `key_revoked` */
function assertInForce(key: ApiKey, nowMs: number): void {
  assertNotRevoked(key);
  const { id, disabledAt, expiresAt } = key;
  if (disabledAt !== null) throw errors.key_revoked(`The key ${id} is disabled`);
  if ((expiresAt ?? Infinity) <= nowMs) throw errors.key_revoked(`The key ${id} has expired`);
}
