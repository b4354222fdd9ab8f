import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { InputPipe } from './input.pipe.js';
import { Int64Pipe, IsInt64, IsInt64Text, IsInteger, IsIntegerText } from './int64.js';
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
    for (const text of ['42', '9223372036854775807', '-9223372036854775808']) {
      expect(pipe.transform(text)).toBe(BigInt(text));
    }
    for (const text of ['x', '042', '9223372036854775808', '-9223372036854775809', '4.2']) {
      expect(() => pipe.transform(text)).toThrow(expect.objectContaining({ code: 'not_found' }));
    }
  });
});

class Sent {
  @IsInteger(0, 168)
  member: unknown = 24;

  @IsIntegerText(1, 168)
  parameter: unknown = 24;
}

function read(sent: object): unknown {
  const instance = plainToInstance(Sent, sent, { exposeDefaultValues: true });
  const [error] = validateSync(instance);
  return error ? Object.values(error.constraints!)[0] : { ...instance };
}

describe('an integer within a range', () => {
  it.each([0, 1, 168])('accepts the number %j in a body', (member) => {
    expect(read({ member })).toEqual({ member, parameter: 24 });
  });

  it.each([-1, 169, 1.5, '5', null, true, [5], 5n])('rejects %p in a body', (member) => {
    expect(read({ member })).toBe('member must be an integer between 0 and 168');
  });

  it.each(['1', '99', '168'])('reads the text %j of a query', (text) => {
    expect(read({ parameter: text })).toEqual({ member: 24, parameter: Number(text) });
  });

  it.each(['0', '169', '01', '1.0', '1e2', '+5', ' 5', '-1', '', ['5', '6']])(
    'rejects the text %j of a query',
    (parameter) => {
      expect(read({ parameter })).toBe('parameter must be an integer between 1 and 168');
    },
  );

  it('is the default when it is left out', () => {
    expect(read({})).toEqual({ member: 24, parameter: 24 });
  });
});
