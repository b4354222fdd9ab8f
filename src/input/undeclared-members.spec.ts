import { plainToInstance, Transform, Type } from 'class-transformer';
import { IsInt, ValidateNested } from 'class-validator';
import { undeclaredBelow } from './undeclared-members.js';

class Toy {
  @IsInt()
  size!: number;

  /** The DTO's own: no rule. */
  price = 0;
}

class Box {
  @ValidateNested({ each: true })
  @Type(() => Toy)
  set!: Set<Toy>;

  @ValidateNested({ each: true })
  @Type(() => Toy)
  map!: Map<string, Toy>;

  @ValidateNested({ each: true })
  @Type(() => Toy)
  @Transform(({ value }: { value: unknown }) => [value].flat())
  oneOrMany!: Toy[];

  @ValidateNested({ each: true })
  @Type(() => Toy)
  @Transform(({ value }: { value: unknown[] }) => value.filter(Boolean))
  some!: Toy[];

  @ValidateNested({ each: true })
  @Type(() => Toy)
  list!: Toy[];
}

const ball = { size: 1 };

describe(undeclaredBelow.name, () => {
  const below = (sent: object): string[] =>
    undeclaredBelow({ ...sent }, plainToInstance(Box, sent), 'box');

  it.each<[keyof Box, (toy: object) => unknown, string]>([
    ['set', (toy) => [ball, toy], 'box.set'],
    ['map', (toy) => ({ ball, other: toy }), 'box.map.other'],
    ['oneOrMany', (toy) => toy, 'box.oneOrMany'],
    ['some', (toy) => [null, ball, toy], 'box.some'],
    ['list', (toy) => [ball, toy], 'box.list.1'],
  ])('finds what a class does not declare in the %s that was made', (member, sent, path) => {
    expect(below({ [member]: sent({ size: 2 }) })).toEqual([]);
    expect(below({ [member]: sent({ size: 2, admin: true }) })).toEqual([`${path}.admin`]);
    expect(below({ [member]: sent({ size: 2, price: 9 }) })).toEqual([`${path}.price`]);
  });
});
