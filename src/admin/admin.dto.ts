import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsIn, Matches } from 'class-validator';
import { constrain, MayBeAbsent } from '../core/input/constrain.js';
import { IsInteger, IsIntegerText } from '../core/input/int64.js';
import { ADDRESS_LIST, MAX_ADDRESSES, parseAddresses } from '../core/keys/allowed-from.js';
import { AUDIT_ACTIONS, type AuditAction } from '../core/keys/audit-record.entity.js';
import { KEY_ORDERS, KEY_STATUSES, type KeyOrder, type KeyStatus } from '../core/keys/key-list.js';
import { isKeyName, MAX_NAME_LENGTH, parseTime } from '../core/keys/key-terms.js';
import { MAX_QUOTA } from '../core/rate-limits/limits.js';
import { arePlanLimits, ENTERPRISE, PLAN } from '../core/rate-limits/plan.js';

const MAX_DAYS = 36_500;
const MAX_GRACE_SECONDS = 365 * 86_400;
const MAX_SCOPES_LENGTH = 1_000;
export const ID = /^\w{1,32}$/;
/** Must not contain any part of a key, because proxies log request targets. */
const SEARCH = /^(?!.*(?:ps[ka]_\w|[0-9A-Za-z]{40}))\P{Cc}{1,255}$/u;
const ACTOR = /^(?!.*ps[ka]_\w)\P{Cc}{1,261}$/u;
const NAME = { maxLength: MAX_NAME_LENGTH, example: 'City zoo' };

function areScopes(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const areNames = value.every((each) => typeof each === 'string' && each !== '');
  const isShort = value.join(' ').length <= MAX_SCOPES_LENGTH;
  return areNames && isShort && new Set(value).size === value.length;
}

/** Unix milliseconds; NaN for any other value than null and an ISO 8601 date or time. */
function expiryOf(value: unknown): number | null {
  if (value === null) return null;
  return (typeof value === 'string' && parseTime(value)) || NaN;
}

function fitsPlan(value: unknown, { plan }: { plan?: string }): boolean {
  if (plan !== ENTERPRISE) return value === undefined;
  const limit = value as number;
  return arePlanLimits({ perMinute: limit, perDay: limit });
}

function NameRule(): PropertyDecorator {
  return constrain(
    'isName',
    `1 to ${MAX_NAME_LENGTH} printable characters, at least one of them visible, without a key`,
    (value) => typeof value === 'string' && isKeyName(value),
  );
}

function PlanRule(): PropertyDecorator {
  return constrain(
    'isPlan',
    'the name of a plan',
    (value) => typeof value === 'string' && /^[a-z][a-z0-9-]{0,63}$/.test(value),
  );
}

function IdParameter(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ description }),
    MayBeAbsent(),
    Matches(ID, { message: '$property must be an ID' }),
  );
}

function LimitMember(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: 'integer',
      minimum: 1,
      maximum: MAX_QUOTA,
      description: 'Plan enterprise only.',
    }),
    constrain(
      'fitsPlan',
      `an integer between 1 and ${MAX_QUOTA} with the plan enterprise, otherwise absent`,
      fitsPlan,
    ),
  );
}

export class KeyListQuery {
  @ApiPropertyOptional({ example: 'free' })
  @MayBeAbsent()
  @PlanRule()
  plan?: string;

  @ApiPropertyOptional({ enum: KEY_STATUSES })
  @MayBeAbsent()
  @IsIn(KEY_STATUSES)
  status?: KeyStatus;

  @ApiPropertyOptional({
    description: 'A part of the name, an ID, or the last 4 characters of the key. Never a key.',
  })
  @MayBeAbsent()
  @Matches(SEARCH, {
    message: 'search must be 1 to 255 printable characters without a key: use digest',
  })
  search?: string;

  @ApiPropertyOptional({ description: 'The SHA-256 of a key, in hexadecimal.' })
  @MayBeAbsent()
  @Matches(/^[0-9a-f]{64}$/i, { message: 'digest must have 64 hexadecimal digits' })
  digest?: string;

  @MayBeAbsent()
  @IsIntegerText(1, MAX_DAYS)
  idleDays?: number;

  @ApiPropertyOptional({ type: 'boolean' })
  @MayBeAbsent()
  @IsIn(['true', 'false'])
  neverUsed?: string;

  @MayBeAbsent()
  @IsIntegerText(1, MAX_DAYS)
  expiresWithinDays?: number;

  @ApiPropertyOptional({ default: 50 })
  @IsIntegerText(1, 100)
  limit: number = 50;

  @IdParameter('Start after the key with this ID.')
  after?: string;

  @ApiPropertyOptional({ enum: KEY_ORDERS, default: 'oldest', description: 'What comes first.' })
  @MayBeAbsent()
  @IsIn(KEY_ORDERS)
  order?: KeyOrder;
}

export class AuditQuery {
  @IdParameter('Only records of this key and of the keys that it succeeded.')
  key?: string;

  @ApiPropertyOptional({ enum: AUDIT_ACTIONS })
  @MayBeAbsent()
  @IsIn(AUDIT_ACTIONS)
  action?: AuditAction;

  @ApiPropertyOptional({
    description: 'The name of the actor: cli:USER, admin:NAME, service, or the ID of a key.',
    example: 'admin:Ann',
  })
  @MayBeAbsent()
  @Matches(ACTOR, { message: 'actor must be 1 to 261 printable characters without a key' })
  actor?: string;

  @ApiPropertyOptional({ default: 50 })
  @IsIntegerText(1, 100)
  limit: number = 50;

  @IdParameter('Only records before the one with this ID.')
  before?: string;
}

class KeyTerms {
  @LimitMember()
  perMinute?: number;

  @LimitMember()
  perDay?: number;

  @ApiPropertyOptional({ type: [String], example: ['pets:read'] })
  @MayBeAbsent()
  @constrain('areScopes', 'a list of different scopes', areScopes)
  scopes?: string[];

  @ApiPropertyOptional({
    description: 'Addresses and CIDR ranges that may use the key. Empty: any.',
    type: [String],
    example: ['203.0.113.0/24'],
    maxItems: MAX_ADDRESSES,
  })
  @MayBeAbsent()
  @constrain(
    'areAddresses',
    ADDRESS_LIST,
    (value) => Array.isArray(value) && parseAddresses(value) !== undefined,
  )
  allowedFrom?: string[];

  @ApiPropertyOptional({
    description: 'ISO 8601; null: never.',
    oneOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
  })
  @MayBeAbsent()
  @Transform(({ value }) => expiryOf(value))
  @constrain(
    'isExpiry',
    'an ISO 8601 date or time with its zone, in the future, or null',
    (value) => value === null || Number(value) > Date.now(),
  )
  expiresAt?: number | null;
}

export class NewKey extends KeyTerms {
  @ApiProperty(NAME)
  @NameRule()
  name!: string;

  @ApiProperty(PLAN)
  @PlanRule()
  plan!: string;
}

export class KeyChange extends KeyTerms {
  @ApiPropertyOptional(NAME)
  @MayBeAbsent()
  @NameRule()
  name?: string;

  @ApiPropertyOptional(PLAN)
  @MayBeAbsent()
  @PlanRule()
  plan?: string;

  @ApiPropertyOptional()
  @MayBeAbsent()
  @IsBoolean()
  disabled?: boolean;
}

export class Rotation {
  @ApiPropertyOptional({ default: 86_400 })
  @IsInteger(0, MAX_GRACE_SECONDS)
  graceSeconds: number = 86_400;
}
