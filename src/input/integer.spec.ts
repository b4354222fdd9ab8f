import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { IsInteger, IsIntegerText } from './integer.js';

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
