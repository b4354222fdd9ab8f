import { Expose, plainToInstance, Transform, Type } from 'class-transformer';
import { IsArray, IsString, ValidateNested } from 'class-validator';
import { untypedMember } from './untyped-members.js';

class Line {
  @IsString()
  toy!: string;
}
class Gift extends Line {}

describe(untypedMember.name, () => {
  it('finds none where class-transformer knows what to make', () => {
    class Order {
      @ValidateNested()
      @Type(() => Line)
      first!: Line;

      @IsArray()
      @ValidateNested({ each: true })
      @Type(() => Line)
      lines!: Line[];

      @Expose({ name: 'main_line' })
      @ValidateNested()
      @Type(() => Line)
      main!: Line;

      @ValidateNested()
      @Transform(({ value }) => plainToInstance(Line, value))
      made!: Line;

      @ValidateNested()
      @Type(() => Line, {
        discriminator: { property: 'kind', subTypes: [{ name: 'gift', value: Gift }] },
      })
      either!: Line | Gift;

      @ValidateNested()
      @Type(() => Order)
      before!: unknown;
    }
    expect(untypedMember(Order)).toBeUndefined();
  });

  it('names the class and the member of one that stays as it was sent', () => {
    class Order {
      @ValidateNested()
      line!: Line;
    }
    expect(untypedMember(Order)).toBe('Order.line');
  });

  it('names a list, and one that is deeper', () => {
    class Order {
      @IsArray()
      @ValidateNested({ each: true })
      lines!: Line[];
    }
    class Visit {
      @ValidateNested()
      @Type(() => Order)
      order!: Order;
    }
    expect(untypedMember(Visit)).toBe('Order.lines');
  });

  it('leaves alone what is no DTO', () => {
    expect([untypedMember(String), untypedMember(undefined)]).toEqual([undefined, undefined]);
  });
});
