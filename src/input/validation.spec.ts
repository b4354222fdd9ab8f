import { Expose, Transform, Type } from 'class-transformer';
import {
  Allow,
  IsArray,
  IsNumberString,
  IsOptional,
  IsString,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { ApiError } from '../errors/api-error.js';
import { dtoOf } from './dto.js';
import { constrain, InputPipe, MayBeAbsent, shown, validated } from './validation.js';

class NoteParams {
  @IsNumberString()
  noteId!: string;
}

describe(InputPipe.name, () => {
  const ofPath = (params: Record<string, string>) =>
    new InputPipe().transform(params, { type: 'param', metatype: NoteParams });

  it('takes of a path what is the DTO’s, and leaves the rest to other parameters', () => {
    const made = ofPath({ petId: '42', noteId: '7' });
    expect(made).toBeInstanceOf(NoteParams);
    expect(made).toEqual({ noteId: '7' });
  });

  it('refuses of a path what breaks a rule', () => {
    expect(() => ofPath({ petId: '42', noteId: 'x' })).toThrow(ApiError);
  });
});

class Animal {
  @constrain('isText', 'a text', (value) => typeof value === 'string')
  name!: string;

  @MayBeAbsent()
  @constrain('isText', 'a text', (value) => typeof value === 'string')
  status?: string;

  @Transform(({ value }: { value: unknown }) => (value === '7' ? 7 : value))
  @MayBeAbsent()
  @constrain('isSeven', 'seven', (value) => value === 7)
  legs = 7;
}

class Keeper {
  @Expose({ name: 'first_name' })
  @IsString()
  firstName!: string;

  @Expose({ name: 'nick', toPlainOnly: true })
  @IsOptional()
  @IsString()
  nickname?: string;

  @Expose({ name: 'their_boss' })
  @IsOptional()
  @ValidateNested()
  @Type(() => Keeper)
  boss?: Keeper;
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'invalid_request', status: 400 });
    return (error as ApiError).message;
  }
  throw new Error('It was not refused');
}

async function isFree(name: unknown): Promise<boolean> {
  await Promise.resolve();
  if (name === '') throw new Error('the database is away');
  return name !== 'taken';
}
class Nickname {
  @ValidateBy({
    name: 'isFree',
    validator: { validate: isFree, defaultMessage: () => 'nickname is taken' },
  })
  nickname!: string;
}

class Visit {
  @Transform(({ value }: { value: string }) => value.trim())
  @IsString()
  note!: string;

  @IsOptional()
  @IsString()
  by?: string;

  @IsOptional()
  @ValidateNested()
  @Type(() => Animal, {
    discriminator: { property: 'kind', subTypes: [{ name: 'animal', value: Animal }] },
  })
  animals?: Animal[];
}

/** Its transformations are run whether anything was sent or not. */
class Sender {
  @Expose({ name: 'first_name' })
  @Transform(({ value }: { value: string }) => value.trim(), { toClassOnly: true })
  @IsString()
  firstName!: string;

  @Expose({ name: 'tag_list' })
  @Transform(({ value }: { value: string }) => value.split(','))
  @IsArray()
  tagList!: string[];

  @Expose({ name: 'pet_id' })
  @Transform(({ value }: { value: number }) => BigInt(value))
  @Allow()
  petId!: bigint;
}

class Demanding {
  @IsString()
  name: string;

  constructor(of: { name: string }) {
    this.name = of.name;
  }
}

const animal = dtoOf(Animal)!;
const member = (members: Record<string, unknown>) => () => validated(animal, members);

describe(validated.name, () => {
  it('gives an instance, with defaults for what is left out', () => {
    expect(member({ name: 'Rex' })()).toEqual(Object.assign(new Animal(), { name: 'Rex' }));
    expect(member({ name: 'Rex', legs: '7' })()).toMatchObject({ legs: 7 });
  });

  it('names each fault, not only the first', () => {
    const faults = messageOf(member({ status: 1, colour: 'red' })).split('; ');
    expect(faults.sort()).toEqual([
      '"colour" is not a known member',
      'name is required',
      'status must be a text',
    ]);
  });

  it('knows a member by the name that it is exposed by, at every depth', async () => {
    const keeper = dtoOf(Keeper)!;
    const sent = { first_name: 'Ann', nickname: 'A', their_boss: { first_name: 'Bob' } };
    const made = await validated(keeper, sent);
    expect(made).toMatchObject({ firstName: 'Ann', nickname: 'A', boss: { firstName: 'Bob' } });
    expect(made).toBeInstanceOf(Keeper);
    const refused = validated(keeper, { ...sent, their_boss: { firstName: 'Bob' } });
    await expect(refused).rejects.toThrow('"their_boss.firstName" is not a known member');
    const mine = { first_name: 'Ann', firstName: 'Ann', nick: 'A' };
    await expect(validated(keeper, mine)).rejects.toThrow(/"firstName".*"nick"/);
  });

  it('does not take null for something left out', () => {
    expect(messageOf(member({ name: 'Rex', status: null }))).toBe('status must be a text');
    expect(messageOf(member({ name: null }))).toBe('name must be a text');
  });

  it('blames who has sent what a transformation cannot take', async () => {
    const visit = dtoOf(Visit)!;
    const sent = (members: object) => () => validated(visit, { ...members });
    expect(await sent({ note: ' calm ' })()).toMatchObject({ note: 'calm' });
    const blamed = (members: object) => expect(sent(members)()).rejects;
    await blamed({ note: 7, by: 'Ann' }).toThrow(/^"note" has a value that cannot be read$/);
    await blamed({ note: 'x', animals: [3, null] }).toThrow(/^"animals" has a value/);
    await blamed({ note: [7] }).toThrow(/^"note" has a value/);
  });

  it('names every fault, also where a transformation takes nothing of what was sent', async () => {
    const visit = dtoOf(Visit)!;
    await expect(validated(visit, { note: 7, by: 8, more: 1 })).rejects.toThrow(
      /^"more" is not a known member; "note" has a value that cannot be read; by must be a string$/,
    );
    const sender = dtoOf(Sender)!;
    expect(await validated(sender, { first_name: ' Ann ', tag_list: 'a,b', pet_id: 7 })).toEqual({
      firstName: 'Ann',
      tagList: ['a', 'b'],
      petId: 7n,
    });
    await expect(validated(sender, { tag_list: 3, more: 1 })).rejects.toThrow(
      /^"more" is not a known member; first_name is required; "tag_list" has a value that cannot be read; pet_id is required$/,
    );
  });

  it('blames nobody for a class that cannot be made', () => {
    expect(() => validated(dtoOf(Demanding)!, { name: 'Rex' })).toThrow(TypeError);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''])(
    'knows no member %p, and lets none through',
    (name) => {
      const members = JSON.parse(`{"name":"Rex","${name}":{"status":1}}`) as Record<
        string,
        unknown
      >;
      expect(messageOf(member(members))).toBe(`"${name}" is not a known member`);
    },
  );

  it('takes a list in a body for a value that is wrong', async () => {
    await expect(member({ name: ['Rex'] })()).rejects.toThrow('name must be a text');
  });

  it('waits for a rule that takes its time, whether it says so of itself or not', async () => {
    const free = dtoOf(Nickname)!;
    const judged = async (nickname: string) => validated(free, { nickname }) as Promise<Nickname>;
    await expect(judged('taken')).rejects.toThrow('nickname is taken');
    await expect(judged('taken')).rejects.toThrow('nickname is taken');
    expect(await judged('free')).toEqual({ nickname: 'free' });
    await expect(judged('')).rejects.toThrow('the database is away');
  });

  it('makes one fresh object for each request', () => {
    expect(member({ name: 'Rex' })()).not.toBe(member({ name: 'Rex' })());
  });

  it('names a thousand faults, of names without end, by the beginnings of these', () => {
    const members = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`${index}${'x'.repeat(500)}`, 1]),
    );
    const named = messageOf(member(members)).split('; ');
    expect(named).toHaveLength(1_001);
    for (const fault of named.slice(0, 1_000))
      expect(fault).toMatch(/^"\d+x{36,39}\.\.\." is not a known member$/);
  });
});

describe(shown.name, () => {
  it.each([
    ['name', '"name"'],
    ['a"b\\c\n\u0000', '"a\\"b\\\\c\\n\\u0000"'],
    ['x'.repeat(41), `"${'x'.repeat(40)}..."`],
    // Cut in the middle of a character, and broken as it came.
    [`${'x'.repeat(39)}🐕`, `"${'x'.repeat(39)}\ufffd..."`],
    ['\ud800', '"\ufffd"'],
  ])('repeats %j as %s', (name, text) => {
    expect(shown(name)).toBe(text);
    expect(shown(name).isWellFormed()).toBe(true);
  });
});
