import { applyDecorators, Injectable, Optional, type PipeTransform } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import type { ApiError } from '../errors/api-error.js';
import { notFound } from '../errors/errors.js';
import { constrain } from './constrain.js';

/** The range of the OpenAPI format `int64`. A Number is exact only up to 2^53 - 1. */
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

const CANONICAL = /^(?:0|-?[1-9]\d{0,18})$/;

/** Whether a value is an exact int64. A Number counts only within its safe range. */
export function isInt64(value: unknown): value is number | bigint {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX;
}

/**
 * Parses plain decimal digits. Returns undefined for any other notation and for a value outside the
 * int64 range.
 */
export function parseInt64(text: string): bigint | undefined {
  const value = CANONICAL.test(text) ? BigInt(text) : undefined;
  return isInt64(value) ? value : undefined;
}

type Range = Partial<Record<'minimum' | 'maximum', bigint>>;

/**
 * Member of a JSON body: a number that is an integer in the int64 range. The DTO has a `bigint`.
 */
export function IsInt64(range: Range = {}): PropertyDecorator {
  return int64Rule(range, (value) => (isInt64(value) ? BigInt(value) : value));
}

/** Query parameter: plain decimal digits in the int64 range. The DTO has a `bigint`. */
export function IsInt64Text(range: Range = {}): PropertyDecorator {
  return int64Rule(range, (value) => parseInt64(value as string) ?? value);
}

function int64Rule(
  { minimum = INT64_MIN, maximum = INT64_MAX }: Range,
  read: (value: unknown) => unknown,
): PropertyDecorator {
  const isWithin = (value: unknown) =>
    typeof value === 'bigint' && value >= minimum && value <= maximum;
  return applyDecorators(
    Transform(({ value }) => read(value)),
    constrain('isInt64', `an integer from ${minimum} to ${maximum}`, isWithin),
    ApiProperty({
      type: 'integer',
      format: 'int64',
      // Readers of the document round larger bounds, which the format implies anyway.
      ...(Number.isSafeInteger(Number(minimum)) && { minimum: Number(minimum) }),
      ...(Number.isSafeInteger(Number(maximum)) && { maximum: Number(maximum) }),
    }),
  );
}

/** Member of a JSON body with a default: an integer within a range. */
export function IsInteger(minimum: number, maximum: number): PropertyDecorator {
  const isWithin = (value: unknown) =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  return applyDecorators(
    constrain('isInteger', `an integer between ${minimum} and ${maximum}`, isWithin),
    ApiPropertyOptional({ type: 'integer', minimum, maximum }),
  );
}

/** Query parameter with a default: the same in plain decimal digits. */
export function IsIntegerText(minimum: number, maximum: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }): unknown => (CANONICAL.test(value as string) ? Number(value) : value)),
    IsInteger(minimum, maximum),
  );
}

/**
 * Path parameter, as `@Param('orderId', Int64Pipe)`. A value that is not an int64 is a 404, because
 * no resource has that address: `not_found`, or the error of `new Int64Pipe(() =>
 * errors.pet_not_found(...))`.
 */
@Injectable()
export class Int64Pipe implements PipeTransform<string, bigint> {
  /** @param missing creates the error; default: `not_found` */
  constructor(@Optional() readonly missing: () => ApiError = notFound) {}

  transform(text: string): bigint {
    const value = parseInt64(text);
    if (value === undefined) throw this.missing();
    return value;
  }
}
