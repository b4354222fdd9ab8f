import { z } from 'zod';
import type { SchemaResult, StandardSchema } from './operation-input.js';
import { namesWithoutUse } from './undeclared-names.js';

/** A schema that counts how often it is asked. */
function counted(schema: Pick<StandardSchema, '~standard'>): StandardSchema & { asked: number } {
  const of = {
    asked: 0,
    '~standard': {
      vendor: 'test',
      validate: (value: unknown): SchemaResult | Promise<SchemaResult> => {
        of.asked++;
        return schema['~standard'].validate(value);
      },
    },
  };
  return of;
}

const many = Object.fromEntries(Array.from({ length: 2_300 }, (_, index) => [`n${index}`, '']));
const shouting = z
  .record(z.string(), z.string())
  .transform((all) => Object.keys(all).map((name) => name.toUpperCase()));

describe(namesWithoutUse.name, () => {
  it.each([
    ['keeps any name', z.looseObject({}), 1],
    ['is a record', z.record(z.string(), z.string()), 1],
    ['makes something else of any name', shouting, 2],
    ['takes fewer', z.object({ a: z.string().optional() }), 4],
  ])('asks a schema that %s no more often for 2,300 names', async (_what, schema, times) => {
    const asked = counted(schema);
    const useless = await namesWithoutUse([asked], many, Object.keys(many));
    expect(useless).toHaveLength(times === 4 ? 2_300 : 0);
    expect(asked.asked).toBe(times);
  });

  const renaming = z
    .object({ from: z.string().default('dawn'), on: z.coerce.date().optional() })
    .transform(({ from, on }) => ({ notBefore: from, isDated: on !== undefined }));

  const likeNonsense = z.object({
    archived: z
      .string()
      .transform((text) => text === 'true')
      .optional(),
    page: z.coerce.number().int().catch(1).optional(),
    all: z.string().transform(Boolean).optional(),
  });

  it.each([
    ['that of nonsense', likeNonsense, { archived: 'false', page: '1', all: 'true' }, []],
    ['that of nonsense, which it is', likeNonsense, { page: 'abc', size: '1' }, ['size']],
    ['the value of its own', z.object({ a: z.coerce.date() }), { a: '2026-01-01' }, []],
    ['no use for it', z.object({}), { a: '1', b: '2' }, ['a', 'b']],
    ['another name for it', renaming, { from: 'noon' }, []],
    ['another name for it, and the default', renaming, { from: 'dawn' }, []],
    ['another name for another', renaming, { form: 'noon' }, ['form']],
    [
      'no meaning for a reserved name',
      z.looseObject({}),
      { a: '1', ['__proto__']: '1' },
      ['__proto__'],
    ],
    ['fewer names, and says so', z.strictObject({ a: z.string() }), { a: '1', b: '1' }, []],
    [
      'the same of what is wrong',
      z.object({ a: z.string().catch('x') }),
      { a: ['1'], b: '1' },
      ['b'],
    ],
  ])('leaves what a schema has %s', async (_what, schema, given, useless) => {
    expect(await namesWithoutUse([schema], given, Object.keys(given))).toEqual(useless);
  });

  it('takes a name that one of several schemas takes, and what one fails over', async () => {
    const failing: StandardSchema = {
      '~standard': {
        vendor: 'test',
        validate: (value) => {
          if ('a' in (value as object)) return { value: {} };
          throw new Error('It cannot do without');
        },
      },
    };
    expect(await namesWithoutUse([z.object({}), z.looseObject({})], { a: '1' }, ['a'])).toEqual([]);
    expect(await namesWithoutUse([failing], { a: '1' }, ['a'])).toEqual([]);
  });
});
