import { Body, Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import type { ApiRequest } from '../http/request-context.js';
import { type Caller, CurrentCaller } from '../keys/caller.js';
import { AnyScope, RequireScope } from '../keys/scope.guard.js';
import { SeparateQuota } from '../rate-limits/separate-quota.decorator.js';
import { KeyBody, KeyRotation, RotatedKeyBody } from './key.dto.js';
import { KeyHolderService } from './key-holder.service.js';

const FREE_OF_QUOTA =
  'Any valid key may call it, even when its quota is used up or it is banned. It consumes no ' +
  'quota.';

/** What the holder of a key can do with it. */
@ApiTags('key')
@Controller('key')
export class KeyController {
  constructor(private readonly holder: KeyHolderService) {}

  @Get()
  @SeparateQuota({ perMinute: 60 })
  @AnyScope()
  @ApiOperation({
    summary: 'Get the key',
    description: `Returns what the service knows about the key. ${FREE_OF_QUOTA}`,
  })
  @ApiOkResponse({ description: 'The key, without its secret.', type: KeyBody })
  @ApiErrors('not_found')
  getKey(@CurrentCaller() caller: Caller): Promise<KeyBody> {
    return this.holder.get(caller);
  }

  @Post('rotate')
  @SeparateQuota({ perMinute: 60 })
  @RequireScope('key:rotate')
  @ApiOperation({
    summary: 'Rotate the key',
    description:
      'Issues a new key with the same plan, counts, scopes and expiry. The old key stays valid ' +
      'for a grace period. If the response is lost, repeat the request with the old key: until ' +
      'the new key is used, it is replaced by another one. `Idempotency-Key` is not accepted, ' +
      'because a stored response would hold the secret. It consumes no quota.',
  })
  @ApiCreatedResponse({ description: 'The new key, which is shown once.', type: RotatedKeyBody })
  @ApiErrors('not_found', 'key_already_rotated', 'key_revoked')
  rotateKey(
    @CurrentCaller() caller: Caller,
    @Body() { graceSeconds }: KeyRotation,
    @Req() request: ApiRequest,
  ): Promise<RotatedKeyBody> {
    if (request.headers['idempotency-key'] !== undefined) {
      throw errors.invalid_request(
        'Idempotency-Key is not accepted: repeat the request without it',
      );
    }
    return this.holder.rotate(caller, graceSeconds, request);
  }

  @Delete()
  @HttpCode(204)
  @SeparateQuota()
  @AnyScope()
  @ApiOperation({
    summary: 'Revoke the key',
    description: `Ends the key on every node within a second. ${FREE_OF_QUOTA}`,
  })
  @ApiNoContentResponse({ description: 'The key is revoked.' })
  @ApiErrors('not_found')
  revokeKey(@CurrentCaller() caller: Caller, @Req() request: ApiRequest): Promise<void> {
    return this.holder.revoke(caller, request);
  }
}
