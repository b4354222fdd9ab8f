import { HttpException, type Type as Class } from '@nestjs/common';
import { Expose, Transform, Type } from 'class-transformer';
import {
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { constrain, MayBeAbsent } from './constrain.js';
import { InputPipe } from './input.pipe.js';
import { quoteForMessage } from './invalid-request.js';

class Toy {
  @IsString()
  name!: string;
}

class Visit {
  @IsString()
  note!: string;

  @MayBeAbsent()
  @constrain('isMood', 'calm or wild', (value) => value === 'calm' || value === 'wild')
  mood?: string;

  @IsOptional()
  @ValidateNested({ each: true })
  @Type(() => Toy)
  toys?: Toy[];

  shout(): string {
    return this.note.toUpperCase();
  }
}

class Paging {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  page = 1;

  @IsOptional()
  @IsArray()
  tags?: string[];

  @MayBeAbsent()
  @Transform(({ value }) => value === 'true')
  isOpen?: boolean;
}

const pipe = new InputPipe();
const body = (members: unknown, metatype: Class<unknown> = Visit, data?: string) =>
  pipe.transform(members, { type: 'body', metatype, ...(data !== undefined && { data }) });
const query = (members: Record<string, unknown>, metatype: Class<unknown> = Paging) =>
  pipe.transform(members, { type: 'query', metatype });
const rejected = (message: string | RegExp) =>
  expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) });

describe(InputPipe.name, () => {
  it('makes a fresh instance of the DTO, nested ones too', async () => {
    const sent = { note: 'x', toys: [{ name: 'ball' }] };
    const made = (await body(sent)) as Visit;
    expect(made).toBeInstanceOf(Visit);
    expect(made.toys![0]).toBeInstanceOf(Toy);
    expect(await body(sent)).not.toBe(made);
    expect(await query({})).toEqual({ page: 1 });
  });

  it('names every undeclared member and every violated rule, at every depth', async () => {
    const sent = { mood: null, more: 1, toys: [{ name: 'ball' }, { name: 7, size: 1 }] };
    const error = await body(sent).catch((each: unknown) => each);
    expect((error as Error).message.split('; ').sort()).toEqual([
      '"more" is not a known member',
      '"toys.1.size" is not a known member',
      'mood must be calm or wild',
      'note must be a string',
      'toys.1.name must be a string',
    ]);
    expect(error).toBeInstanceOf(HttpException);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'shout'])(
    'rejects the undeclared member %s, which class-transformer would ignore',
    async (name) => {
      const sent: unknown = JSON.parse(`{"${name}":{"note":1},"note":7}`);
      await expect(body(sent)).rejects.toEqual(
        rejected(`^"${name}" is not a known member; note must be a string$`),
      );
      const nested: unknown = JSON.parse(`{"note":"x","toys":[{"name":"y","${name}":1}]}`);
      if (name !== 'shout') await expect(body(nested)).rejects.toEqual(rejected(`toys.0.${name}`));
    },
  );

  it('rejects names that pollute prototypes in a body without a DTO', async () => {
    const sent: unknown = JSON.parse('{"a":[{"__proto__":{"x":1}}],"b":1}');
    await expect(body(sent, Object)).rejects.toEqual(rejected('^"a.0.__proto__" is not a known'));
    expect(await body({ a: [{ b: 1 }] }, Object)).toEqual({ a: [{ b: 1 }] });
  });

  it('accepts every name in a query without a DTO, as Nest does', async () => {
    expect(await query({ constructor: '1', page: '2' }, Object)).toEqual({
      constructor: '1',
      page: '2',
    });
  });

  it.each([[[]], [null], ['x'], [7]])('rejects the body %j for a DTO', async (sent) => {
    await expect(body(sent)).rejects.toEqual(rejected('^The body must be a JSON object$'));
  });

  it('needs no body if every member is optional, and answers 415 otherwise', async () => {
    expect(await body(undefined, Paging)).toEqual({ page: 1 });
    await expect(body(undefined)).rejects.toMatchObject({ code: 'unsupported_media_type' });
  });

  it('names the member that @Body(NAME) reads', async () => {
    expect(await body({ name: 'ball' }, Toy, 'toy')).toBeInstanceOf(Toy);
    await expect(body({ name: 7 }, Toy, 'toy')).rejects.toEqual(rejected('^toy.name must be'));
    await expect(body(7, Toy, 'toy')).rejects.toEqual(rejected('^toy must be a JSON object$'));
  });

  it('names every unknown, repeated and invalid query parameter', async () => {
    expect(await query({ page: '2', tags: ['a', 'b'] })).toEqual({ page: 2, tags: ['a', 'b'] });
    await expect(
      query({ isOpen: ['true', 'true'], page: '0', q: '1', after: '1' }),
    ).rejects.toEqual(
      rejected(
        /^isOpen appears more than once; "q" is not a known query parameter; "after" is .*; page must not be less than 1$/,
      ),
    );
    const polluted = JSON.parse('{"__proto__":"1"}') as Record<string, unknown>;
    await expect(query(polluted)).rejects.toEqual(rejected('"__proto__" is not a known query'));
  });

  it('repeats no key that was sent as a name', async () => {
    const key = `psk_${'a1'.repeat(24)}b`;
    await expect(body({ note: 'x', [key]: 1 })).rejects.toEqual(
      rejected(/^"psk_\.\.\." is not a known member$/),
    );
    await expect(query({ [key]: ['1', '2'] })).rejects.toEqual(
      rejected(/^psk_\.\.\. appears more than once; "psk_\.\.\." is not a known query parameter$/),
    );
  });

  it('leaves single values to the pipes of the parameter, as Nest does', async () => {
    const single = (metatype: unknown, value: unknown = '5') =>
      pipe.transform(value, { type: 'query', data: 'page', metatype: metatype as Class<unknown> });
    for (const type of [Number, Boolean, BigInt, String]) {
      expect(await single(type)).toBe('5');
      await expect(single(type, ['5', '6'])).rejects.toEqual(
        rejected('^page appears more than once$'),
      );
    }
    for (const type of [Array, Object, undefined]) {
      expect(await single(type, ['5', '6'])).toEqual(['5', '6']);
    }
    expect(await body(undefined, BigInt as unknown as Class<unknown>, 'price')).toBeUndefined();
    expect(await body(5, BigInt as unknown as Class<unknown>, 'price')).toBe(5);
  });

  it('knows a member by the name that it is exposed by', async () => {
    class Keeper {
      @Expose({ name: 'first_name' })
      @IsString()
      firstName!: string;
    }
    expect(await body({ first_name: 'Ann' }, Keeper)).toEqual({ firstName: 'Ann' });
  });

  it('answers 400 for a value that a transformation cannot convert', async () => {
    class Trimmed {
      @Transform(({ value }: { value: string }) => value.trim())
      @IsString()
      note!: string;
    }
    expect(await body({ note: ' x ' }, Trimmed)).toEqual({ note: 'x' });
    await expect(body({ note: 7 }, Trimmed)).rejects.toEqual(rejected('wrong type'));
  });

  it('waits for an asynchronous rule, and lets its own failure through', async () => {
    const isFree = async (name: unknown): Promise<boolean> => {
      await Promise.resolve();
      if (name === '') throw new Error('the database is away');
      return name !== 'taken';
    };
    class Nickname {
      @ValidateBy({
        name: 'isFree',
        validator: { validate: isFree, defaultMessage: () => 'nickname is taken' },
      })
      nickname!: string;
    }
    expect(await body({ nickname: 'free' }, Nickname)).toEqual({ nickname: 'free' });
    await expect(body({ nickname: 'taken' }, Nickname)).rejects.toEqual(rejected('is taken'));
    await expect(body({ nickname: '' }, Nickname)).rejects.toThrow(/^the database is away$/);
  });
});

describe(quoteForMessage.name, () => {
  it.each([
    ['a"b\\c\n\u0000', '"a\\"b\\\\c\\n\\u0000"'],
    ['x'.repeat(40), `"${'x'.repeat(40)}"`],
    ['x'.repeat(41), `"${'x'.repeat(40)}..."`],
    // A surrogate pair that is cut in half.
    [`${'x'.repeat(39)}🐕`, `"${'x'.repeat(39)}\ufffd..."`],
    ['\ud800', '"\ufffd"'],
  ])('quotes %j as %s', (name, text) => {
    expect(quoteForMessage(name)).toBe(text);
  });
});
