import Sqlite from 'better-sqlite3';
import { jsonExpression, type JsonMembers, jsonWriter } from './json-members.js';

const WORD: JsonMembers = [
  { name: 'id', column: 'id', type: 'integer' },
  { name: 'text', column: 'text', type: 'string' },
  { name: 'kind', column: 'kind', type: 'word', isOptional: true },
];
const TEXTS = [
  'plain',
  '',
  'with "quotes" and \\ and /',
  'zwölf 🐾',
  'tab\there, line\nbreak, \u0001',
  '\u007f\u2028',
  'x'.repeat(300),
  `"${'y'.repeat(300)}`,
];

const asText = (value: string | bigint | null) => (value === null ? null : String(value));

describe('an object made of a row', () => {
  const database = new Sqlite(':memory:');
  database.exec('CREATE TABLE words (id integer PRIMARY KEY, text text, kind text)');
  const select = database.prepare(`SELECT ${jsonExpression(WORD)} FROM words`).pluck();
  const write = jsonWriter(WORD);
  afterAll(() => database.close());

  it.each(TEXTS)('reads back as what it was made of: %j', (text) => {
    database.exec('DELETE FROM words');
    database
      .prepare('INSERT INTO words VALUES (?, ?, ?)')
      .run(9_223_372_036_854_775_807n, text, 'a');
    const made = write(['9223372036854775807', text, 'a']);
    expect(made).toContain('"id":9223372036854775807,');
    expect(select.get()).toContain('"id":9223372036854775807,');
    for (const json of [made, select.get() as string]) {
      expect(JSON.parse(json)).toMatchObject({ text, kind: 'a' });
    }
  });

  it('leaves out what is optional and not there', () => {
    database.exec("DELETE FROM words; INSERT INTO words VALUES (1, 'cat', NULL)");
    expect(select.get()).toBe('{"id":1,"text":"cat"}');
    expect(write(['1', 'cat', null])).toBe('{"id":1,"text":"cat"}');
  });

  it('has as many parts as there are members, however many are optional', () => {
    const types = ['integer', 'string', 'word'] as const;
    const optional = Array.from({ length: 12 }, (_, index) => ({
      ...{ name: `m${index}`, column: `c${index}`, type: types[index % 3]! },
      isOptional: true as const,
    }));
    const members: JsonMembers = [WORD[0]!, ...optional];
    const expression = jsonExpression(members);
    expect(expression.length).toBeLessThan(1_000);
    const values = [7n, 'x "y"', 'z'];
    for (let present = 0; present < 2 ** 12; present += 7) {
      const row = optional.map((_, index) => (present & (1 << index) ? values[index % 3]! : null));
      const columns = optional.map(({ column }) => `? AS ${column}`);
      const made = database
        .prepare(`SELECT ${expression} FROM (SELECT 1 AS id, ${columns.join()})`)
        .pluck()
        .get(...row);
      expect(made).toBe(jsonWriter(members)(['1', ...row.map(asText)]));
    }
  });
});
