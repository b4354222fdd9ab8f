import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { constrain } from './constrain.js';

const DIGITS = /^(?:0|[1-9]\d*)$/;

/** Member of a JSON body with a default: an integer within a range. */
export function IsInteger(minimum: number, maximum: number): PropertyDecorator {
  const isWithin = (value: unknown): boolean =>
    Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum;
  return applyDecorators(
    constrain('isInteger', `an integer between ${minimum} and ${maximum}`, isWithin),
    ApiPropertyOptional({ type: 'integer', minimum, maximum }),
  );
}

/** Query parameter with a default: the same in plain decimal digits. */
export function IsIntegerText(minimum: number, maximum: number): PropertyDecorator {
  return applyDecorators(
    Transform(({ value }): unknown => (DIGITS.test(value as string) ? Number(value) : value)),
    IsInteger(minimum, maximum),
  );
}
