import { type EntityManager, IsNull, MoreThan } from 'typeorm';
import { rowLock } from '../database/transactions.js';
import { errors } from '../errors/errors.js';
import type { Plans } from '../rate-limits/plan.js';
import { isoTime } from '../time/windows.js';
import { addressesOf } from './allowed-from.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, mintId, mintKey } from './api-key-format.js';
import type { AuditAction, State } from './audit-record.entity.js';
import type { AuditedTransaction } from './audit-trail.js';

export interface IssuedKey {
  /** The key itself, which is not stored and cannot be shown again. */
  key: string;
  record: ApiKey;
}

type Terms = Pick<
  ApiKey,
  'name' | 'plan' | 'perMinute' | 'perDay' | 'scopes' | 'allowedFrom' | 'createdAt' | 'expiresAt'
> &
  Partial<Pick<ApiKey, 'clientId' | 'withdrawableBy'>>;

/** @throws {ApiError} 404 if there is no such key */
export async function findKey(manager: EntityManager, id: string): Promise<ApiKey> {
  const key = await manager.findOneBy(ApiKey, { id });
  if (key === null) throw errors.not_found(`no key has the ID ${id}`);
  return key;
}

/** Reads and writes the rows of keys in a transaction. Each change has its audit record. */
export class KeyTransaction {
  constructor(
    readonly audited: AuditedTransaction,
    private readonly plans: Plans,
  ) {}

  /**
   * Finds a key with its client locked: the first key of the client, which has the client's id. The
   * audit records from then on are in the order in which the changes take effect.
   * @throws {ApiError} 404 if there is no such key
   */
  async lock(id: string): Promise<ApiKey> {
    const { manager } = this.audited;
    const { clientId } = await findKey(manager, id);
    await manager.findOne(ApiKey, { where: { id: clientId }, ...rowLock(manager) });
    await this.audited.updateTime();
    return findKey(manager, id);
  }

  /**
   * Finds the keys of a client that are neither revoked nor expired. The others are not read: a
   * client may have thousands of them.
   */
  findUsable(clientId: string, nowMs: number): Promise<ApiKey[]> {
    const ofClient = { clientId, revokedAt: IsNull() };
    return this.audited.manager.findBy(ApiKey, [
      { ...ofClient, expiresAt: IsNull() },
      { ...ofClient, expiresAt: MoreThan(nowMs) },
    ]);
  }

  /** Inserts the first key of a client. */
  async issue(terms: Terms): Promise<IssuedKey> {
    const issued = await this.insert(terms);
    const { record } = issued;
    const after = this.termsOf(record);
    await this.audited.record({ action: 'key.issue', target: record.id, before: null, after });
    return issued;
  }

  /** Inserts a key. Without a `clientId`, it is the first key of a client and gives it its id. */
  async insert(terms: Terms): Promise<IssuedKey> {
    const { manager, nowMs } = this.audited;
    const id = mintId('key');
    const key = mintKey();
    const record = manager.create(ApiKey, {
      clientId: id,
      withdrawableBy: null,
      ...terms,
      id,
      digest: digestOf(key),
      lastFour: key.slice(-4),
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
   */
  async update(action: AuditAction, key: ApiKey, values: Partial<ApiKey>): Promise<void> {
    const { manager, nowMs, record } = this.audited;
    const changedAt = Math.max(nowMs, key.changedAt + 1);
    const row = { ...values, changedAt, withdrawableBy: null };
    await manager.update(ApiKey, { id: key.id }, row);
    const old = this.stateOf(key);
    Object.assign(key, row);
    const state = this.stateOf(key);
    const before = difference(old, state);
    const after = difference(state, old);
    if (Object.keys(after).length === 0) return;
    await record({ action, target: key.id, before, after }, changedAt);
  }

  /** What audit records show. A later release may change the limits of a plan. */
  private stateOf(key: ApiKey): State {
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
      allowedFrom: addressesOf(key).sort(),
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
