import { ApiError } from '../errors/api-error.js';
import { dtoOf } from './dto.js';
import { Int64Pipe, IsInt64, IsInt64Text } from './int64.rules.js';
import { MayBeAbsent, validated } from './validation.js';

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

const made = (type: new () => object, members: Record<string, unknown>): unknown =>
  validated(dtoOf(type)!, members);

describe('int64 rules', () => {
  it('make a bigint of every JSON integer, exact to the last digit', () => {
    expect(made(NewVisit, { petId: 7, fee: -9223372036854775808n })).toEqual({
      petId: 7n,
      fee: -9223372036854775808n,
    });
    expect(made(NewVisit, { petId: 9223372036854775807n })).toEqual({ petId: 2n ** 63n - 1n });
  });

  it.each([['7'], [1.5], [null], [0], [2n ** 63n], [Number.NaN], [true]])(
    'refuse %p in a body',
    (petId) => {
      expect(() => made(NewVisit, { petId })).toThrow(
        'petId must be an integer from 1 to 9223372036854775807',
      );
    },
  );

  it('read plain digits of a query, and nothing else', () => {
    expect(made(VisitsQuery, { petId: '-9223372036854775808' })).toEqual({ petId: -(2n ** 63n) });
    for (const petId of ['+5', '05', '1e1', '5.0', '', '-0', ' 5', '9223372036854775808']) {
      expect(() => made(VisitsQuery, { petId })).toThrow(ApiError);
    }
  });

  it('take a path that is no int64 for one that names nothing', () => {
    const pipe = new Int64Pipe();
    expect(pipe.transform('42')).toBe(42n);
    for (const text of ['x', '042', '9223372036854775808', '4.2']) {
      expect(() => pipe.transform(text)).toThrow(expect.objectContaining({ code: 'not_found' }));
    }
  });
});
