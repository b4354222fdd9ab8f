import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsIntegerText } from '../core/input/int64.js';
import { ApiCount, ApiTime, ApiTimeOrNull, INT64 } from '../core/input/unix-time.js';
import { PLAN } from '../core/rate-limits/plan.js';

export class UsageWindow {
  @ApiCount('Requests allowed per window.', 60, 1)
  limit!: number;

  @ApiCount('Requests left in this window.', 42)
  remaining!: number;

  @ApiTime('End of this window.')
  resetAt!: string;
}

export class UsageLimits {
  @ApiProperty({ type: UsageWindow })
  minute!: UsageWindow;

  @ApiProperty({ type: UsageWindow })
  day!: UsageWindow;
}

export class Usage {
  @ApiProperty(PLAN)
  plan!: string;

  @ApiProperty({ description: 'The scopes of the key.', type: [String], example: ['pets:read'] })
  scopes!: string[];

  @ApiProperty({ type: UsageLimits })
  limits!: UsageLimits;

  @ApiTimeOrNull('End of the ban, or null.')
  bannedUntil!: string | null;

  @ApiTimeOrNull('Expiry of the key, or null.')
  expiresAt!: string | null;
}

/** Query parameters of getUsageHistory. */
export class UsageHistoryQuery {
  @ApiPropertyOptional({ description: 'Number of hours, the current one included.', default: 24 })
  @IsIntegerText(1, 168)
  hours: number = 24;
}

@ApiSchema({ name: 'UsageHour' })
export class UsageHourBody {
  @ApiTime('Start of the hour.')
  startsAt!: string;

  @ApiProperty({
    description: 'Number of requests by error code; `ok` for those without an error.',
    type: 'object',
    additionalProperties: INT64,
    example: { ok: 60, rate_limit_exceeded: 5 },
  })
  codes!: Record<string, number>;
}

export class RejectedRequests {
  @ApiTime('The latest request.')
  at!: string;

  @ApiTime('The first request.')
  firstAt!: string;

  @ApiCount('Number of requests.', 5, 1)
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

/** Rejected requests of a client, as operators see them. */
export class RejectedOfClient extends RejectedRequests {
  @ApiProperty({
    description: 'ID of the key of the latest request.',
    example: 'key_0Lj0QR9b3sycDOpwV',
  })
  keyId!: string;
}

export class UsageHistory {
  @ApiProperty({ description: 'Hours with requests, oldest first.', type: [UsageHourBody] })
  hours!: UsageHourBody[];

  @ApiProperty({
    description:
      'The latest ten groups of rejected requests, newest first. A group has the same code, ' +
      'operation, address and window on one UTC day.',
    type: [RejectedRequests],
  })
  rejected!: RejectedRequests[];
}
