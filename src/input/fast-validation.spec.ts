import { IsArray, IsString, ValidateNested } from 'class-validator';
import { constrain, MayBeAbsent } from './constrain.js';
import { isCertainlyValid } from './fast-validation.js';

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

const toy = (members: object) => Object.assign(new Toy(), members);

describe(isCertainlyValid.name, () => {
  it('accepts an object that keeps every rule', () => {
    expect(isCertainlyValid(toy({ name: 'ball' }))).toBe(true);
    expect(isCertainlyValid(toy({ name: 'ball', size: 4 }))).toBe(true);
  });

  it.each([
    ['a violated rule', toy({ name: 7 })],
    ['a violated rule of an optional member', toy({ name: 'ball', size: 3 })],
    ['an undeclared member', toy({ name: 'ball', colour: 'red' })],
    ['a nested object', Object.assign(new Nested(), { toy: toy({ name: 'ball' }) })],
    ['a rule for each item', Object.assign(new Listed(), { names: ['a'] })],
    ['a class without rules', {}],
  ])('leaves %s to class-validator', (_what, object) => {
    expect(isCertainlyValid(object)).toBe(false);
  });
});
