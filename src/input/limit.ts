import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { constrain } from './constrain.js';

/** Page size if the client names none. */
export const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const PLAIN_DIGITS = /^(?:[1-9]\d?|100)$/;

/** Converts a valid `limit` parameter; leaves any other value for the rule to reject. */
export function toLimit(value: unknown): unknown {
  return typeof value === 'string' && PLAIN_DIGITS.test(value) ? Number(value) : value;
}

/** Rule and documentation of `limit`. */
export function IsLimit(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      description,
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
    }),
    constrain(
      'isLimit',
      `an integer between 1 and ${MAX_LIMIT}`,
      (value) => typeof value === 'number',
    ),
  );
}
