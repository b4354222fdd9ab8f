import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { StrictInput } from '../core/input/strict-input.decorator.js';
import { type Caller, CurrentCaller } from '../core/keys/caller.js';
import { AnyScope } from '../core/keys/scope.guard.js';
import { SeparateQuota } from '../core/rate-limits/separate-quota.decorator.js';
import { Usage, UsageHistory, UsageHistoryQuery } from './usage.dto.js';
import { UsageService } from '../core/usage/usage.service.js';

const FREE_OF_QUOTA =
  'Any valid key may call this operation up to 60 times a minute, even when its quota is used up ' +
  'or it is banned. It consumes no quota.';

/** A complete example: the examples of the members would make both windows equal. */
const EXAMPLE: Usage = {
  plan: 'free',
  scopes: ['pets:read', 'pets:write'],
  limits: {
    minute: { limit: 60, remaining: 42, resetAt: '2025-12-05T00:01:00.000Z' },
    day: { limit: 1_000, remaining: 910, resetAt: '2025-12-06T00:00:00.000Z' },
  },
  bannedUntil: null,
  expiresAt: null,
};

@StrictInput()
@ApiTags('usage')
@Controller('usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @SeparateQuota()
  @AnyScope()
  @ApiOperation({
    summary: 'Get the usage of the key',
    description: `Returns the plan, scopes and remaining quota of the key. ${FREE_OF_QUOTA}`,
  })
  @ApiOkResponse({ description: 'The usage of the key.', type: Usage, example: EXAMPLE })
  getUsage(@CurrentCaller() caller: Caller): Promise<Usage> {
    return this.usage.of(caller);
  }

  @Get('history')
  @SeparateQuota()
  @AnyScope()
  @ApiOperation({
    summary: 'Get the usage by hour',
    description:
      'Returns the requests of the client by hour and error code, and its latest rejected ' +
      'requests. The last 10 seconds may be missing; after 7 days, usage is deleted. ' +
      FREE_OF_QUOTA,
  })
  @ApiOkResponse({ description: 'The usage of the last hours.', type: UsageHistory })
  async getUsageHistory(
    @CurrentCaller() { quota }: Caller,
    @Query() { hours: length }: UsageHistoryQuery,
  ): Promise<UsageHistory> {
    const { hours, rejected } = await this.usage.history(quota.key, length);
    // Only operators see the key of the latest request.
    return { hours, rejected: rejected.map((group) => ({ ...group, keyId: undefined })) };
  }
}
