import Sqlite from 'better-sqlite3';
import {
  findStatement,
  membersOf,
  pageStatement,
  type TableColumns,
  type TableRow,
} from './table-statements.js';

const WORDS: TableColumns = [
  { member: 'id', column: 'id', type: 'int64' },
  { member: 'text', column: 'text', type: 'text' },
  { member: 'note', column: 'note', type: 'text', isOptional: true },
  { member: 'kind', column: 'kind', type: 'word', isOptional: true },
];
const TEXTS = ['', 'with "quotes" and \\ and /', 'zwölf 🐾', '\tan\nd \u0001', '\u007f\u2028'];
const LARGEST = 9_223_372_036_854_775_807n;

describe('the statements of a table', () => {
  const database = new Sqlite(':memory:').defaultSafeIntegers();
  database.exec('CREATE TABLE words (id integer PRIMARY KEY, text text, note text, kind text)');
  const insert = database.prepare('INSERT OR REPLACE INTO words VALUES (?, ?, ?, ?)');
  const prepare = ({ sqlite }: { sqlite: unknown }) =>
    database.prepare((sqlite as string).replace(/\$\w+/g, '?'));
  const find = prepare(findStatement('find', 'words', WORDS));
  const page = prepare(pageStatement('page', 'words', WORDS)).pluck();
  const pageOfKind = prepare(pageStatement('page', 'words', WORDS, ['kind'])).pluck();
  beforeEach(() => database.exec('DELETE FROM words'));
  afterAll(() => database.close());

  it.each([...TEXTS, 'x'.repeat(300)])('keep every digit and character of %j', (text) => {
    insert.run(LARGEST, text, text, 'a');
    const [json] = page.all(0, 2) as string[];
    expect(json).toContain(`"id":${LARGEST},`);
    expect(JSON.parse(json!)).toMatchObject({ text, note: text, kind: 'a' });
    const row = find.get(LARGEST) as TableRow;
    expect(membersOf(WORDS, row)).toEqual({ id: LARGEST, text, note: text, kind: 'a' });
  });

  it('leave out optional members that are NULL', () => {
    insert.run(1, 'cat', null, null);
    expect(page.all(0, 2)).toEqual(['{"id":1,"text":"cat"}']);
    expect(membersOf(WORDS, find.get(1) as TableRow)).toEqual({ id: 1n, text: 'cat' });
  });

  it('read the rows after an id, in the order of the ids, of a filter', () => {
    for (let id = 1; id <= 5; id++) insert.run(id, 'cat', null, id % 2 ? 'odd' : 'even');
    const ids = (texts: unknown[]) =>
      texts.map((text) => (JSON.parse(text as string) as { id: number }).id);
    expect(ids(page.all(1, 3))).toEqual([2, 3, 4]);
    expect(ids(pageOfKind.all('odd', 1, 3))).toEqual([3, 5]);
  });

  it('keep a LIMIT an expression, for which SQLite does not plan anew', () => {
    expect(pageStatement('page', 'words', WORDS).sqlite).toMatch(/LIMIT \+\$row_count$/);
  });

  it('have linear length, however many members are optional', () => {
    const optional: TableColumns = Array.from({ length: 12 }, (_, index) => ({
      ...{ member: `m${index}`, column: `c${index}`, type: 'text', isOptional: true },
    }));
    const { sqlite } = pageStatement('page', 'words', [WORDS[0]!, ...optional]);
    expect(sqlite.length).toBeLessThan(1_200);
  });
});
