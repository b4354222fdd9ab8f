import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import type { FastifyRequest } from 'fastify';
import { constrain, MayBeAbsent } from '../input/constrain.js';
import { KEY_STATUSES, type KeyStatus } from '../keys/key-list.js';
import { isKeyName, MAX_NAME_LENGTH, parseExpiry } from '../keys/key-terms.js';
import { arePlanLimits, PLAN } from '../rate-limits/plan.js';
import { requestContext } from '../telemetry/request-context.js';

const MAX_DAYS = 36_500;
const MAX_GRACE_SECONDS = 365 * 86_400;
const MAX_SCOPES_LENGTH = 1_000;
const ID = /^\w{1,32}$/;
const NAME = { maxLength: MAX_NAME_LENGTH, example: 'City zoo' };
const UNSAFE = /\p{Cc}/u;

/** The plans and scopes of this server: the guard has set them. */
function known() {
  return (requestContext.getStore() as FastifyRequest).admin!;
}

export function isId(value: unknown): boolean {
  return typeof value === 'string' && ID.test(value);
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && isKeyName(value);
}

function isSearch(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= 255 && !UNSAFE.test(value);
}

function isPlan(value: unknown): boolean {
  return known().plans.names.includes(value as string);
}

function areScopes(value: unknown): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  const isDeclared = value.every((each) => typeof each === 'string' && known().scopes.has(each));
  const isShort = value.join(' ').length <= MAX_SCOPES_LENGTH;
  return isDeclared && isShort && new Set(value).size === value.length;
}

function isExpiry(value: unknown): boolean {
  if (value === null) return true;
  return typeof value === 'string' && (parseExpiry(value) ?? 0) > known().clock.now();
}

/** A limit belongs to the plans that have none of their own. */
function fitsPlan(value: unknown, { plan }: { plan?: string }): boolean {
  const hasOwnLimits = isPlan(plan) && known().plans.of(plan!) === undefined;
  if (!hasOwnLimits) return value === undefined;
  const limit = value as number;
  return arePlanLimits({ perMinute: limit, perDay: limit });
}

function NameRule(): PropertyDecorator {
  return constrain('isName', `1 to ${MAX_NAME_LENGTH} printable characters, without a key`, isName);
}

function PlanRule(): PropertyDecorator {
  return constrain('isPlan', 'the name of a plan', isPlan);
}

/** A query parameter: plain decimal digits. */
function CountParameter(maximum: number, initial?: number): PropertyDecorator {
  const expected = `an integer between 1 and ${maximum}`;
  const isCount = (value: unknown) => typeof value === 'number' && value <= maximum;
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, maximum, default: initial }),
    Transform(({ value }) =>
      /^[1-9]\d{0,5}$/.test(value as string) ? Number(value) : (value as unknown),
    ),
    MayBeAbsent(),
    constrain('isCount', expected, isCount),
  );
}

function IdParameter(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ description, type: 'string' }),
    MayBeAbsent(),
    constrain('isId', 'an ID', isId),
  );
}

function LimitMember(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Plan enterprise only.' }),
    constrain(
      'fitsPlan',
      'a positive integer with the plan enterprise, otherwise absent',
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
  @constrain('isStatus', `one of ${KEY_STATUSES.join(', ')}`, (value) =>
    KEY_STATUSES.includes(value as KeyStatus),
  )
  status?: KeyStatus;

  @ApiPropertyOptional({
    description: 'A part of the name, an ID, the last 4 characters of the key, or the key.',
  })
  @MayBeAbsent()
  @constrain('isSearch', '1 to 255 characters', isSearch)
  search?: string;

  @CountParameter(MAX_DAYS)
  idleDays?: number;

  @ApiPropertyOptional({ type: 'boolean' })
  @MayBeAbsent()
  @constrain('isFlag', 'true or false', (value) => value === 'true' || value === 'false')
  neverUsed?: string;

  @CountParameter(MAX_DAYS)
  expiresWithinDays?: number;

  @CountParameter(100, 50)
  limit: number = 50;

  @IdParameter('Start after the key with this ID.')
  after?: string;
}

export class AuditQuery {
  @IdParameter('Only records of this key.')
  key?: string;

  @CountParameter(100, 50)
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
  @constrain('areScopes', 'a list of different declared scopes', areScopes)
  scopes?: string[];

  @ApiPropertyOptional({
    description: 'ISO 8601; null: never.',
    oneOf: [{ type: 'string', format: 'date-time' }, { type: 'null' }],
  })
  @MayBeAbsent()
  @constrain('isExpiry', 'an ISO 8601 date or time with its zone, in the future, or null', isExpiry)
  expiresAt?: string | null;
}

@ApiSchema({ name: 'NewKey' })
export class NewKeyBody extends KeyTerms {
  @ApiProperty(NAME)
  @NameRule()
  name!: string;

  @ApiProperty(PLAN)
  @PlanRule()
  plan!: string;
}

@ApiSchema({ name: 'KeyChange' })
export class KeyChangeBody extends KeyTerms {
  @ApiPropertyOptional(NAME)
  @MayBeAbsent()
  @NameRule()
  name?: string;

  @ApiPropertyOptional(PLAN)
  @MayBeAbsent()
  @PlanRule()
  plan?: string;

  @ApiPropertyOptional({ type: 'boolean' })
  @MayBeAbsent()
  @constrain('isBoolean', 'true or false', (value) => typeof value === 'boolean')
  disabled?: boolean;
}

@ApiSchema({ name: 'Rotation' })
export class RotationBody {
  @ApiPropertyOptional({ type: 'integer', minimum: 0, maximum: MAX_GRACE_SECONDS, default: 86_400 })
  @constrain('isGrace', `an integer between 0 and ${MAX_GRACE_SECONDS}`, (value) => {
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_GRACE_SECONDS;
  })
  graceSeconds: number = 86_400;
}
