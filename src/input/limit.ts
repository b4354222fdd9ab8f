import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { constrain } from './validation.js';

/** How many items a page has where nobody asks for another number. */
export const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const PLAIN_DIGITS = /^(?:[1-9]\d?|100)$/;

/** Of a query parameter. What is no limit stays what it is, for the rule to refuse. */
export function toLimit(value: unknown): unknown {
  return typeof value === 'string' && PLAIN_DIGITS.test(value) ? Number(value) : value;
}

/** The rule and the documentation of a page's `limit`, once `toLimit` has read it. */
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
      `a whole number from 1 to ${MAX_LIMIT}`,
      (value) => typeof value === 'number',
    ),
  );
}
