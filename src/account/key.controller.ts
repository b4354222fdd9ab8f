import { Body, Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors } from '../core/errors/api-errors.decorator.js';
import { errors } from '../core/errors/errors.js';
import { clientAddress } from '../core/http/client-address.js';
import type { ApiRequest } from '../core/http/request.js';
import { StrictInput } from '../core/input/strict-input.decorator.js';
import type { Initiator } from '../core/keys/audit-record.entity.js';
import { type Caller, CurrentCaller } from '../core/keys/caller.js';
import { Key, RotatedKey } from '../core/keys/key.dto.js';
import { KeyList } from '../core/keys/key-list.js';
import { rotatedView } from '../core/keys/key-views.js';
import { KeysService } from '../core/keys/keys.service.js';
import { AnyScope, RequireScope } from '../core/keys/scope.guard.js';
import { Plans } from '../core/rate-limits/plan.js';
import { RateLimiter } from '../core/rate-limits/rate-limiter.js';
import { SeparateQuota } from '../core/rate-limits/separate-quota.decorator.js';
import { DAY_MS } from '../core/time/windows.js';
import { KeyRotation } from './key.dto.js';
import { UsageService } from '../core/usage/usage.service.js';

const FREE_OF_QUOTA =
  'Any valid key may call it, even when its quota is used up or it is banned. It consumes no ' +
  'quota.';

/** Each rotation adds a key and an audit record. */
const ROTATIONS_PER_DAY = 100;

/**
 * What the holder of a key can do with it. There is no key behind a token of an external identity
 * provider: 404.
 */
@StrictInput()
@ApiTags('key')
@Controller('key')
export class KeyController {
  private readonly revoking = new Map<string, Promise<void>>();
  private readonly rotating = new Map<string, Promise<unknown>>();

  constructor(
    private readonly keys: KeysService,
    private readonly list: KeyList,
    private readonly usage: UsageService,
    private readonly limiter: RateLimiter,
    private readonly plans: Plans,
  ) {}

  @Get()
  @SeparateQuota()
  @AnyScope()
  @ApiOperation({
    summary: 'Get the key',
    description: `Returns what the service knows about the key. ${FREE_OF_QUOTA}`,
  })
  @ApiOkResponse({ description: 'The key, without its secret.', type: Key })
  @ApiErrors('not_found')
  async getKey(@CurrentCaller() caller: Caller): Promise<Key> {
    const key = await this.list.get(caller.keyId);
    // The counters know a ban earlier than the database.
    const { bannedUntil } = await this.usage.of(caller);
    return { ...key, bannedUntil };
  }

  @Post('rotate')
  @SeparateQuota()
  @RequireScope('key:rotate')
  @ApiOperation({
    summary: 'Rotate the key',
    description:
      'Issues a new key with the same plan, counts, scopes and expiry. The old key stays valid ' +
      'for a grace period. If the response is lost, repeat the request with the old key: until ' +
      'the new key is used, or changed by an operator, it is replaced by another one. `Idempotency-Key` is not accepted, ' +
      'because a stored response would hold the secret. It consumes no quota. A client can rotate ' +
      `its key ${ROTATIONS_PER_DAY} times a day.`,
  })
  @ApiCreatedResponse({ description: 'The new key, which is shown once.', type: RotatedKey })
  @ApiErrors('not_found', 'key_already_rotated', 'key_revoked')
  async rotateKey(
    @CurrentCaller() { keyId, quota }: Caller,
    @Body() { graceSeconds }: KeyRotation,
    @Req() request: ApiRequest,
  ): Promise<RotatedKey> {
    if (request.headers['idempotency-key'] !== undefined) {
      throw errors.invalid_request(
        'Idempotency-Key is not accepted: repeat the request without it',
      );
    }
    await this.limiter.throttle(`rotateKey ${quota.key}`, ROTATIONS_PER_DAY, DAY_MS);
    const rotate = () => this.keys.rotate(keyId, graceSeconds * 1000, holder(keyId, request));
    // Rotations of one key queue here, because each would hold a database connection while it waits
    // for the row lock. If one fails, those behind it fail for the same reason.
    const rotation = (this.rotating.get(keyId) ?? Promise.resolve()).then(rotate);
    this.rotating.set(keyId, rotation);
    const rotated = await rotation.finally(() => {
      if (this.rotating.get(keyId) === rotation) this.rotating.delete(keyId);
    });
    const { id, key, expiresAt, replaces } = rotatedView(rotated, this.plans);
    return { id, key, expiresAt, previous: replaces };
  }

  @Delete()
  @HttpCode(204)
  @SeparateQuota({ isLimited: false })
  @AnyScope()
  @ApiOperation({
    summary: 'Revoke the key',
    description: `Ends the key on every node within a second. ${FREE_OF_QUOTA}`,
  })
  @ApiNoContentResponse({ description: 'The key is revoked.' })
  @ApiErrors('not_found')
  revokeKey(@CurrentCaller() { keyId }: Caller, @Req() request: ApiRequest): Promise<void> {
    // No quota limits the repeats: each would hold a connection while it waits for the others.
    const revoked =
      this.revoking.get(keyId) ??
      this.keys.revoke(keyId, holder(keyId, request)).finally(() => this.revoking.delete(keyId));
    this.revoking.set(keyId, revoked);
    return revoked;
  }
}

function holder(keyId: string, request: ApiRequest): Initiator {
  const actor = { type: 'key', name: keyId } as const;
  return { actor, address: clientAddress(request), requestId: request.id };
}
