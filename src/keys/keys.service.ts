import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../config/clock.js';
import { Engine } from '../database/engine.js';
import { run, Statement } from '../database/statement.js';
import { BanLedger } from '../rate-limits/ban-ledger.js';
import { PLANS, type PlanName } from '../rate-limits/plan.js';
import { RateLimitStore } from '../rate-limits/rate-limit-store.js';
import { ApiKey } from './api-key.entity.js';
import { digestOf, mintId, mintKey } from './api-key-format.js';
import { DEFAULT_SCOPES } from './scopes.js';

/** Limits of a key's own: with the plan enterprise required, with any other not allowed. */
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

/** A key at its issue: the only time that the key itself is told. */
export interface IssuedKey {
  key: string;
  record: ApiKey;
}

/** No key has that id. */
export class UnknownKeyError extends Error {
  constructor(id: string) {
    super(`There is no key with the id ${id}`);
  }
}

/** The change makes no sense for the key as it is. */
export class KeyStateError extends Error {}

/** Limits of a key's own, with a plan that has its own; or none, with one that has not. */
export class OwnLimitsError extends Error {}

const INSERT = new Statement(
  'keys.insert',
  ({ nowMs }) => `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes,
      per_minute, per_day, created_at, expires_at, changed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, ${nowMs})`,
);
const REVOKE = new Statement(
  'keys.revoke',
  ({ nowMs }) =>
    `UPDATE api_keys SET revoked_at = $1, changed_at = ${nowMs} WHERE id = $2 AND revoked_at IS NULL`,
);
const SET_PLAN = new Statement(
  'keys.set-plan',
  ({
    nowMs,
  }) => `UPDATE api_keys SET plan = $1, per_minute = $2, per_day = $3, changed_at = ${nowMs}
    WHERE client_id = $4`,
);
const EXPIRE = new Statement(
  'keys.expire',
  ({ nowMs }) => `UPDATE api_keys SET expires_at = $1, changed_at = ${nowMs} WHERE id = $2`,
);

/** The life of API keys, from issue to revocation. Running servers notice each change within a second. */
@Injectable()
export class KeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly engine: Engine,
    private readonly store: RateLimitStore,
    private readonly bans: BanLedger,
    private readonly clock: Clock,
  ) {}

  async issue(request: NewKey): Promise<IssuedKey> {
    const id = mintId('key');
    return this.insert(id, {
      clientId: id,
      name: request.name,
      scopes: (request.scopes ?? DEFAULT_SCOPES).join(' '),
      expiresAt: request.expiresAt ?? null,
      ...ownLimits(request.plan, request),
    });
  }

  /** A new key for the same client; the old one stays valid for `graceMs`, at most. */
  async rotate(id: string, graceMs: number): Promise<IssuedKey> {
    const old = await this.get(id);
    const nowMs = this.clock.now();
    if (old.revokedAt !== null) throw new KeyStateError(`The key ${id} is revoked`);
    if (old.expiresAt !== null && old.expiresAt <= nowMs) {
      throw new KeyStateError(`The key ${id} is expired`);
    }
    const issued = await this.insert(mintId('key'), old);
    const ends = Math.min(nowMs + graceMs, old.expiresAt ?? Infinity);
    await this.engine.write(() => run(EXPIRE, ends, id));
    return issued;
  }

  async revoke(id: string): Promise<ApiKey> {
    await this.get(id);
    await this.engine.write(() => run(REVOKE, this.clock.now(), id));
    return this.get(id);
  }

  /** A plan is the client's: every key of it gets it. */
  async setPlan(id: string, plan: PlanName, own: OwnLimits): Promise<ApiKey> {
    const { clientId } = await this.get(id);
    const { perMinute, perDay } = ownLimits(plan, own);
    await this.engine.write(() => run(SET_PLAN, plan, perMinute, perDay, clientId));
    return this.get(id);
  }

  async unban(id: string): Promise<ApiKey> {
    const key = await this.get(id);
    await this.bans.lift(key.clientId);
    await this.store.unban(key.clientId);
    return key;
  }

  /** @throws {UnknownKeyError} */
  async get(id: string): Promise<ApiKey> {
    const key = await this.keys.findOneBy({ id });
    if (key === null) throw new UnknownKeyError(id);
    return key;
  }

  /** Newest last. */
  list(): Promise<ApiKey[]> {
    return this.keys.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  async isEmpty(): Promise<boolean> {
    return !(await this.keys.exists());
  }

  private async insert(
    id: string,
    of: Pick<
      ApiKey,
      'clientId' | 'name' | 'plan' | 'scopes' | 'perMinute' | 'perDay' | 'expiresAt'
    >,
  ): Promise<IssuedKey> {
    const key = mintKey();
    await this.engine.write(() =>
      run(
        INSERT,
        id,
        of.clientId,
        of.name,
        digestOf(key),
        key.slice(-4),
        of.plan,
        of.scopes,
        of.perMinute,
        of.perDay,
        this.clock.now(),
        of.expiresAt,
      ),
    );
    return { key, record: await this.get(id) };
  }
}

function ownLimits(plan: PlanName, { perMinute, perDay }: OwnLimits) {
  const given = perMinute !== undefined || perDay !== undefined;
  if (PLANS[plan] === undefined) {
    if (perMinute === undefined || perDay === undefined) {
      throw new OwnLimitsError(`The plan ${plan} needs --per-minute and --per-day`);
    }
    return { plan, perMinute, perDay };
  }
  if (given) throw new OwnLimitsError(`The plan ${plan} takes neither --per-minute nor --per-day`);
  return { plan, perMinute: null, perDay: null };
}
