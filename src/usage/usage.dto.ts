import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PLAN_NAMES, type PlanName } from '../rate-limits/plan.js';

@ApiSchema({ name: 'UsageWindow' })
export class WindowBody {
  @ApiProperty({ description: 'Requests in the window.', type: 'integer', minimum: 1, example: 60 })
  limit!: number;

  @ApiProperty({ description: 'Those left of it.', type: 'integer', minimum: 0, example: 42 })
  remaining!: number;

  @ApiProperty({
    description: 'Unix timestamp at which the window begins anew.',
    type: 'integer',
    minimum: 0,
    example: 1764892860,
  })
  resetAt!: number;
}

@ApiSchema({ name: 'UsageLimits' })
export class LimitsBody {
  @ApiProperty({ type: WindowBody })
  minute!: WindowBody;

  @ApiProperty({ type: WindowBody })
  day!: WindowBody;
}

/** What a key may, and what is left of it. */
@ApiSchema({ name: 'Usage' })
export class UsageBody {
  @ApiProperty({ description: 'The plan of the key.', enum: PLAN_NAMES, example: 'free' })
  plan!: PlanName;

  @ApiProperty({
    description: 'What the key is allowed to do.',
    type: [String],
    example: ['pets:read', 'pets:write'],
  })
  scopes!: string[];

  @ApiProperty({ type: LimitsBody })
  limits!: LimitsBody;

  @ApiProperty({
    description: 'Unix timestamp at which the ban of the key ends; null where it is not banned.',
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    example: null,
  })
  bannedUntil!: number | null;

  @ApiProperty({
    description: 'Unix timestamp at which the key expires; null where it does not.',
    oneOf: [{ type: 'integer', minimum: 0 }, { type: 'null' }],
    example: null,
  })
  expiresAt!: number | null;
}
