import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import { type Caller, CurrentCaller } from '../keys/caller.js';
import { AnyScope } from '../keys/scope.guard.js';
import { UsageBody } from './usage.dto.js';
import { UsageService } from './usage.service.js';

@ApiTags('usage')
@Controller('usage')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @SkipThrottle()
  @AnyScope()
  @ApiOperation({
    summary: 'Tell what is left',
    description:
      'Tells the plan of the key, its scopes and what is left of its quota. Any valid key may ask, also ' +
      'while it is over its limit or banned. Takes no quota; at most 60 times a minute.',
  })
  @ApiOkResponse({ description: 'The usage of the key.', type: UsageBody })
  getUsage(@CurrentCaller() caller: Caller): Promise<UsageBody> {
    return this.usage.of(caller);
  }
}
