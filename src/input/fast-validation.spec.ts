import type { Type } from '@nestjs/common';
import { IsArray, IsString, ValidateNested } from 'class-validator';
import { constrain, MayBeAbsent } from './constrain.js';
import { transformIfValid } from './fast-validation.js';

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

describe(transformIfValid.name, () => {
  it('returns an instance that keeps every rule', () => {
    const toys = [{ name: 'ball' }, { name: 'ball', size: 4 }];
    for (const toy of toys) {
      const instance = transformIfValid(Toy, toy);
      expect(instance).toBeInstanceOf(Toy);
      expect(instance).toMatchObject(toy);
    }
  });

  it.each([
    ['a violated rule', Toy, { name: 7 }],
    ['a violated rule of an optional member', Toy, { name: 'ball', size: 3 }],
    ['an undeclared member', Toy, { name: 'ball', colour: 'red' }],
    ['a nested object', Nested, { toy: { name: 'ball' } }],
    ['a rule for each item', Listed, { names: ['a'] }],
    ['a class without rules', Object, {}],
    ['a missing body', Toy, undefined],
  ])('leaves %s to the stock pipe', (_what, dto: Type<object>, value) => {
    expect(transformIfValid(dto, value)).toBeUndefined();
  });
});
