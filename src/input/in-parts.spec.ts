import { Expose, Transform } from 'class-transformer';
import { InParts } from './in-parts.js';

function refuse(): never {
  throw new Error('It was run');
}

class Visit {
  @Expose({ name: 'is_late' })
  @Transform(({ value }) => value === 'true')
  isLate!: boolean;

  @Expose({ name: 'is_long' })
  @Transform(refuse)
  isLong!: boolean;

  @Expose()
  by!: string;

  @Expose({ name: 'remark', toPlainOnly: true })
  note = 'none';

  @Transform(refuse)
  place!: string;
}
const MEMBERS = ['isLate', 'isLong', 'by', 'note', 'place'];

describe(InParts.name, () => {
  const parts = new InParts(Visit, new Set(MEMBERS));

  it('tells by what name a member is sent, and runs no transformation for it', () => {
    expect(Object.fromEntries(parts.names())).toEqual({
      isLate: 'is_late',
      isLong: 'is_long',
      by: 'by',
    });
  });

  it('makes what it is asked for, and runs no transformation of the rest', () => {
    const sent = { is_late: 'true', is_long: 1, by: 'Ann', place: 'here' };
    const made = parts.make(sent, (member) => ['isLong', 'place'].includes(member));
    expect(made).toBeInstanceOf(Visit);
    expect(made.constructor).toBe(Visit);
    expect(made).toEqual(Object.assign(new Visit(), { isLate: true, by: 'Ann' }));
    expect(() => parts.make(sent, (member) => member === 'place')).toThrow('It was run');
  });

  it('tells which members nothing can be made of, sent or not', () => {
    expect(parts.unmakeable({ place: 'here' })).toEqual(['isLong', 'place']);
    expect(parts.unmakeable({})).toEqual(['isLong']);
  });
});
