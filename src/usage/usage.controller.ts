import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Caller } from '../keys/caller.js';
import { CurrentCaller } from '../keys/current-caller.decorator.js';
import { AnyScope } from '../keys/scope.guard.js';
import { CountedApart } from '../rate-limits/counted-apart.decorator.js';
import { UsageBody } from './usage.dto.js';
import { UsageService } from './usage.service.js';

/** Whole: of a member's, both windows would be made alike. */
const EXAMPLE: UsageBody = {
  plan: 'free',
  scopes: ['pets:read', 'pets:write'],
  limits: {
    minute: { limit: 60, remaining: 42, resetAt: 1764892860 },
    day: { limit: 1_000, remaining: 910, resetAt: 1764979200 },
  },
  bannedUntil: null,
  expiresAt: null,
};

@ApiTags('usage')
@Controller('usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @CountedApart({ perMinute: 60 })
  @AnyScope()
  @ApiOperation({
    summary: 'Tell what is left',
    description:
      'Tells the plan of the key, its scopes and what is left of its quota. Any valid key may ask, also ' +
      'while it is over its limit or banned. Takes no quota; at most 60 times a minute.',
  })
  @ApiOkResponse({ description: 'The usage of the key.', type: UsageBody, example: EXAMPLE })
  getUsage(@CurrentCaller() caller: Caller): Promise<UsageBody> {
    return this.usage.of(caller);
  }
}
