import { InputPipe } from './input.pipe.js';
import { Int64Pipe, IsInt64, IsInt64Text } from './int64.js';
import { MayBeAbsent } from './constrain.js';

class NewVisit {
  @IsInt64({ minimum: 1n })
  petId!: bigint;

  @MayBeAbsent()
  @IsInt64()
  fee?: bigint;
}

class VisitsQuery {
  @IsInt64Text()
  petId!: bigint;
}

const validate = (metatype: new () => object, members: object): Promise<unknown> =>
  new InputPipe().transform(members, { type: 'body', metatype });

describe('int64 rules', () => {
  it('turn every JSON integer into a bigint, exact to the last digit', async () => {
    expect(await validate(NewVisit, { petId: 7, fee: -9223372036854775808n })).toEqual({
      petId: 7n,
      fee: -9223372036854775808n,
    });
    expect(await validate(NewVisit, { petId: 9223372036854775807n })).toEqual({
      petId: 2n ** 63n - 1n,
    });
  });

  it.each([['7'], [1.5], [null], [0], [2n ** 63n], [Number.NaN], [true], [[7]]])(
    'reject %p in a body',
    async (petId) => {
      await expect(validate(NewVisit, { petId })).rejects.toThrow(
        'petId must be an integer from 1 to 9223372036854775807',
      );
    },
  );

  it('read plain digits of a query and nothing else', async () => {
    const lowest = '-9223372036854775808';
    expect(await validate(VisitsQuery, { petId: lowest })).toEqual({ petId: -(2n ** 63n) });
    for (const petId of ['+5', '05', '1e1', '5.0', '', '-0', ' 5', '9223372036854775808']) {
      await expect(validate(VisitsQuery, { petId })).rejects.toThrow('petId must be an integer');
    }
  });

  it('answer 404 for a path parameter that is not an int64', () => {
    const pipe = new Int64Pipe();
    expect(pipe.transform('42')).toBe(42n);
    for (const text of ['x', '042', '9223372036854775808', '4.2']) {
      expect(() => pipe.transform(text)).toThrow(expect.objectContaining({ code: 'not_found' }));
    }
  });
});
