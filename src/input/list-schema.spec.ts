import { isListSchema } from './list-schema.js';

const $defs = {
  Ids: { type: 'array', items: { type: 'string' } },
  'a/b': { $ref: '#/$defs/Ids' },
  Tree: { anyOf: [{ $ref: '#/$defs/Tree' }, { type: 'object' }] },
};

describe(isListSchema.name, () => {
  it.each([
    [{ type: 'array' }],
    [{ type: ['null', 'array'] }],
    [{ anyOf: [{ type: 'string' }, { type: 'array' }] }],
    [{ allOf: [{ minItems: 1 }, { $ref: '#/$defs/Ids' }] }],
    [{ $ref: '#/$defs/Ids' }],
    [{ $ref: '#/$defs/a~1b' }],
  ])('takes %j for one that takes a list', (schema) => {
    expect(isListSchema(schema, { $defs })).toBe(true);
  });

  it.each([
    [{}],
    [true],
    [{ type: 'string' }],
    [{ $ref: '#/$defs/Tree' }],
    [{ $ref: '#/$defs/None/deeper' }],
    [{ $ref: 'https://pets.example/ids' }],
    [{ type: 'object', properties: { ids: { $ref: '#/$defs/Ids' } } }],
  ])('takes %j for one that takes none', (schema) => {
    expect(isListSchema(schema, { $defs })).toBe(false);
  });
});
