import Sqlite from 'better-sqlite3';
import {
  columnsAsText,
  jsonExpression,
  jsonWriter,
  membersOf,
  type TableColumns,
  type TextRow,
} from './table-columns.js';

const WORDS: TableColumns = [
  { member: 'id', column: 'id', type: 'int64' },
  { member: 'text', column: 'text', type: 'text' },
  { member: 'kind', column: 'kind', type: 'word', isOptional: true },
];
const TEXTS = [
  ...[
    'plain',
    '',
    'with "quotes" and \\ and /',
    'zwölf 🐾',
    'tab\there, \nbreak, \u0001',
    '\u007f\u2028',
  ],
  'x'.repeat(300),
];
const LARGEST = 9_223_372_036_854_775_807n;

describe('the columns of a table', () => {
  const database = new Sqlite(':memory:');
  database.exec('CREATE TABLE words (id integer PRIMARY KEY, text text, kind text)');
  const json = database.prepare(`SELECT ${jsonExpression(WORDS)} FROM words`).pluck();
  const row = database.prepare(`SELECT ${columnsAsText(WORDS)} FROM words`);
  const insert = database.prepare('INSERT OR REPLACE INTO words VALUES (?, ?, ?)');
  const write = jsonWriter(WORDS);
  beforeEach(() => database.exec('DELETE FROM words'));
  afterAll(() => database.close());

  it.each(TEXTS)('become the same exact JSON text on both engines: %j', (text) => {
    insert.run(LARGEST, text, 'a');
    const made = json.get() as string;
    expect(made).toContain(`"id":${LARGEST},`);
    expect(JSON.parse(made)).toMatchObject({ text, kind: 'a' });
    expect(JSON.parse(write([`${LARGEST}`, text, 'a']))).toEqual(JSON.parse(made));
    expect(membersOf(WORDS, row.get() as TextRow)).toEqual({ id: LARGEST, text, kind: 'a' });
  });

  it('leave out an optional member that is NULL', () => {
    insert.run(1, 'cat', null);
    expect(json.get()).toBe('{"id":1,"text":"cat"}');
    expect(write(['1', 'cat', null])).toBe('{"id":1,"text":"cat"}');
    expect(membersOf(WORDS, row.get() as TextRow)).toEqual({ id: 1n, text: 'cat' });
  });

  it('make an expression of linear length, however many are optional', () => {
    const types = ['int64', 'text', 'word'] as const;
    const optional: TableColumns = Array.from({ length: 12 }, (_, index) => ({
      ...{ member: `m${index}`, column: `c${index}`, type: types[index % 3]!, isOptional: true },
    }));
    const columns: TableColumns = [WORDS[0]!, ...optional];
    expect(jsonExpression(columns).length).toBeLessThan(1_000);
    const values = ['7', 'x "y"', 'z'];
    for (let present = 0; present < 2 ** 12; present += 7) {
      const given = optional.map((_, index) =>
        present & (1 << index) ? values[index % 3]! : null,
      );
      const select = optional.map(({ column, type }) =>
        type === 'int64' ? `CAST(? AS integer) AS ${column}` : `? AS ${column}`,
      );
      const made = database
        .prepare(`SELECT ${jsonExpression(columns)} FROM (SELECT 1 AS id, ${select.join()})`)
        .pluck()
        .get(...given);
      expect(made).toBe(jsonWriter(columns)(['1', ...given]));
    }
  });
});
