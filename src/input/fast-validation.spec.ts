import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { IsArray, IsString, ValidateNested } from 'class-validator';
import { constrain, MayBeAbsent } from './constrain.js';
import { isValid } from './fast-validation.js';

class Toy {
  @IsString()
  name: unknown;

  @MayBeAbsent()
  @constrain('isEven', 'even', (value) => Number(value) % 2 === 0)
  size?: unknown;
}

class Nested {
  @ValidateNested()
  toy: unknown;
}

class Listed {
  @IsArray()
  @IsString({ each: true })
  names: unknown;
}

const check = (dto: Type<object>, value: object) => isValid(dto, plainToInstance(dto, value));

describe(isValid.name, () => {
  it('accepts an instance that keeps every rule', () => {
    expect(check(Toy, { name: 'ball' })).toBe(true);
    expect(check(Toy, { name: 'ball', size: 4 })).toBe(true);
  });

  it.each([
    ['a violated rule', Toy, { name: 7 }],
    ['a violated rule of an optional member', Toy, { name: 'ball', size: 3 }],
    ['an undeclared member', Toy, { name: 'ball', colour: 'red' }],
    ['a nested object', Nested, { toy: { name: 'ball' } }],
    ['a rule for each item', Listed, { names: ['a'] }],
    ['a class without rules', Object, {}],
  ])('leaves %s to class-validator', (_what, dto: Type<object>, value) => {
    expect(check(dto, value)).toBe(false);
  });
});
