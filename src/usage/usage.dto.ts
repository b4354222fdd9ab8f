import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PLAN_NAMES, type PlanName } from '../rate-limits/plan.js';

const INT64 = { type: 'integer', format: 'int64', minimum: 0, maximum: 2 ** 53 - 1 } as const;
const UNIX_TIME_OR_NULL = { oneOf: [INT64, { type: 'null' }], example: null };

@ApiSchema({ name: 'UsageWindow' })
export class WindowBody {
  @ApiProperty({ ...INT64, minimum: 1, description: 'Requests allowed per window.', example: 60 })
  limit!: number;

  @ApiProperty({ ...INT64, description: 'Requests left in this window.', example: 42 })
  remaining!: number;

  @ApiProperty({ ...INT64, description: 'End of this window (Unix time).', example: 1764892860 })
  resetAt!: number;
}

@ApiSchema({ name: 'UsageLimits' })
export class LimitsBody {
  @ApiProperty({ type: WindowBody })
  minute!: WindowBody;

  @ApiProperty({ type: WindowBody })
  day!: WindowBody;
}

@ApiSchema({ name: 'Usage' })
export class UsageBody {
  @ApiProperty({ description: 'The plan of the key.', enum: PLAN_NAMES, example: 'free' })
  plan!: PlanName;

  @ApiProperty({ description: 'The scopes of the key.', type: [String], example: ['pets:read'] })
  scopes!: string[];

  @ApiProperty({ type: LimitsBody })
  limits!: LimitsBody;

  @ApiProperty({ ...UNIX_TIME_OR_NULL, description: 'End of the ban (Unix time), or null.' })
  bannedUntil!: number | null;

  @ApiProperty({ ...UNIX_TIME_OR_NULL, description: 'Expiry of the key (Unix time), or null.' })
  expiresAt!: number | null;
}
