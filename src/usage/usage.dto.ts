import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { constrain } from '../input/constrain.js';
import { INT64, UNIX_TIME_OR_NULL } from '../input/unix-time.js';
import { PLAN, type PlanName } from '../rate-limits/plan.js';

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
  @ApiProperty(PLAN)
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

const MAX_HOURS = 168;
const HOURS = /^(?:[1-9]\d?|1[0-5]\d|16[0-8])$/;
const TIME = { ...INT64, example: 1764892800 };

/** Query parameters of getUsageHistory. */
export class UsageHistoryQuery {
  @ApiPropertyOptional({
    description: 'Number of hours, the current one included.',
    type: 'integer',
    minimum: 1,
    maximum: MAX_HOURS,
    default: 24,
  })
  @Transform(({ value }) => (HOURS.test(value as string) ? Number(value) : (value as unknown)))
  @constrain(
    'isHours',
    `an integer between 1 and ${MAX_HOURS}`,
    (value) => typeof value === 'number',
  )
  hours: number = 24;
}

@ApiSchema({ name: 'UsageHour' })
export class UsageHourBody {
  @ApiProperty({ ...TIME, description: 'Start of the hour (Unix time).' })
  startsAt!: number;

  @ApiProperty({
    description: 'Number of requests by error code; `ok` for those without an error.',
    type: 'object',
    additionalProperties: INT64,
    example: { ok: 60, rate_limit_exceeded: 5 },
  })
  codes!: Record<string, number>;
}

@ApiSchema({ name: 'RejectedRequests' })
export class RejectedBody {
  @ApiProperty({ ...TIME, description: 'The latest request (Unix time).' })
  at!: number;

  @ApiProperty({ ...TIME, description: 'The first request (Unix time).' })
  firstAt!: number;

  @ApiProperty({ ...INT64, minimum: 1, description: 'Number of requests.', example: 5 })
  count!: number;

  @ApiProperty({ description: 'The error code.', example: 'rate_limit_exceeded' })
  code!: string;

  @ApiProperty({ description: 'ID of the operation.', example: 'listPets' })
  operation!: string;

  @ApiProperty({ description: 'Address of the sender.', example: '192.0.2.1' })
  address!: string;

  @ApiProperty({
    description: 'The window of the plan that was full, otherwise null.',
    oneOf: [{ type: 'string', enum: ['minute', 'day'] }, { type: 'null' }],
    example: 'minute',
  })
  window!: 'minute' | 'day' | null;
}

@ApiSchema({ name: 'UsageHistory' })
export class UsageHistoryBody {
  @ApiProperty({ description: 'Hours with requests, oldest first.', type: [UsageHourBody] })
  hours!: UsageHourBody[];

  @ApiProperty({
    description:
      'The latest ten groups of rejected requests, newest first. Equal requests in a row are one ' +
      'group.',
    type: [RejectedBody],
  })
  rejected!: RejectedBody[];
}
