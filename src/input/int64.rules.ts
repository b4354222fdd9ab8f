import { applyDecorators, Injectable, Optional, type PipeTransform } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import type { ApiError } from '../errors/api-error.js';
import { errors } from '../errors/errors.js';
import { INT64_MAX, INT64_MIN, isInt64, parseInt64 } from './json.js';
import { constrain } from './validation.js';

interface Range {
  minimum?: bigint;
  maximum?: bigint;
}

/** A JSON number that is an integer in the int64 range, exact to the last digit: a `bigint` in the DTO. */
export function IsInt64(range: Range = {}): PropertyDecorator {
  return int64Rule(range, (value) => (isInt64(value) ? BigInt(value) : value));
}

/** As `@IsInt64()`, of a query parameter: plain decimal digits, for a query has nothing but text. */
export function IsInt64Text(range: Range = {}): PropertyDecorator {
  return int64Rule(range, (value) =>
    typeof value === 'string' ? (parseInt64(value) ?? value) : value,
  );
}

function int64Rule(
  { minimum = INT64_MIN, maximum = INT64_MAX }: Range,
  read: (value: unknown) => unknown,
): PropertyDecorator {
  const isWithin = (value: unknown): boolean =>
    typeof value === 'bigint' && value >= minimum && value <= maximum;
  return applyDecorators(
    Transform(({ value }) => read(value)),
    constrain('isInt64', `an integer from ${minimum} to ${maximum}`, isWithin),
    ApiProperty({
      type: 'integer',
      format: 'int64',
      // A document is JSON that others read: what they would round is left to the format.
      ...(Number.isSafeInteger(Number(minimum)) && { minimum: Number(minimum) }),
      ...(Number.isSafeInteger(Number(maximum)) && { maximum: Number(maximum) }),
    }),
  );
}

/**
 * The int64 of a path, as `@Param('orderId', Int64Pipe)`. A text that is not one names nothing, so it is a 404:
 * `not_found`, or the error of `new Int64Pipe(() => errors.pet_not_found(...))`.
 */
@Injectable()
export class Int64Pipe implements PipeTransform<string, bigint> {
  /** @param missing makes the error; undefined for `not_found` */
  constructor(@Optional() readonly missing?: () => ApiError) {}

  transform(text: string): bigint {
    const value = parseInt64(text);
    if (value === undefined) throw (this.missing ?? noResource)();
    return value;
  }
}

function noResource(): ApiError {
  return errors.not_found('There is no such resource');
}
