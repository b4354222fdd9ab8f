import { Injectable } from '@nestjs/common';
import { notFound } from '../errors/errors.js';
import { clientAddress } from '../http/client-address.js';
import type { ApiRequest } from '../http/request-context.js';
import { unixSeconds } from '../input/unix-time.js';
import type { Caller } from '../keys/caller.js';
import { KeyList, type ListedKey } from '../keys/key-list.js';
import { KeysService } from '../keys/keys.service.js';
import { RateLimitStore } from '../rate-limits/stores/rate-limit-store.js';
import type { KeyBody, RotatedKeyBody } from './key.dto.js';

/** Shows and changes keys on behalf of their holders. */
@Injectable()
export class KeyHolderService {
  constructor(
    private readonly keys: KeysService,
    private readonly list: KeyList,
    private readonly store: RateLimitStore,
  ) {}

  async get(caller: Caller): Promise<KeyBody> {
    const key = await this.find(caller);
    const { nowMs, bannedUntilMs } = await this.store.peek(caller.quota.subject);
    return {
      id: key.id,
      clientId: key.clientId,
      name: key.name,
      last4: key.lastFour,
      plan: key.plan,
      scopes: [...caller.scopes],
      createdAt: unixSeconds(key.createdAt),
      expiresAt: unixSeconds(key.expiresAt),
      lastUsedAt: unixSeconds(key.lastUsedAt),
      bannedUntil: bannedUntilMs > nowMs ? Math.ceil(bannedUntilMs / 1000) : null,
    };
  }

  async rotate(caller: Caller, graceSeconds: number, request: ApiRequest): Promise<RotatedKeyBody> {
    const { id } = await this.find(caller);
    const rotated = await this.by(id, request).rotate(id, graceSeconds * 1000);
    const { key, record, replaced } = rotated;
    return {
      id: record.id,
      key,
      expiresAt: unixSeconds(record.expiresAt),
      previous: { id, expiresAt: unixSeconds(replaced.expiresAt!) },
    };
  }

  async revoke(caller: Caller, request: ApiRequest): Promise<void> {
    const { id } = await this.find(caller);
    await this.by(id, request).revoke(id);
  }

  /** @throws {ApiError} 404 for a caller with a token of an external identity provider */
  private async find({ keyId }: Caller): Promise<ListedKey> {
    const [key] = await this.list.find({ id: keyId });
    if (key === undefined) throw notFound();
    return key;
  }

  private by(id: string, request: ApiRequest): KeysService {
    const actor = { type: 'key', name: id } as const;
    return this.keys.by({ actor, address: clientAddress(request), requestId: request.id });
  }
}
