import Sqlite from 'better-sqlite3';
import type { TableColumn } from './table-columns.js';
import { pageName, pageStatement } from './table-statements.js';

const column = (member: string, kind: TableColumn['kind']): TableColumn => ({
  member,
  name: member,
  kind,
  isGenerated: member === 'id',
  read: (value) => value,
});
const ID = column('id', 'int64');
const OTHERS = [column('text', 'text'), column('note', 'text')];
const WORDS = { name: 'words', key: ID, columns: [ID, ...OTHERS], given: OTHERS };
const TEXTS = ['', 'with "quotes" and \\ and /', 'zwölf 🐾', '\tan\nd \u0001', '\u007f\u2028'];
const LARGEST = 9_223_372_036_854_775_807n;

describe(pageStatement.name, () => {
  const database = new Sqlite(':memory:').defaultSafeIntegers();
  database.exec('CREATE TABLE words (id integer PRIMARY KEY, text text, note text)');
  const insert = database.prepare('INSERT OR REPLACE INTO words VALUES (?, ?, ?)');
  const { sqlite } = pageStatement(WORDS, [], false);
  const page = database.prepare<unknown[], string>(sqlite.replace(/\$\w+/g, '?')).pluck();
  beforeEach(() => database.exec('DELETE FROM words'));
  afterAll(() => database.close());

  it.each([...TEXTS, 'x'.repeat(300)])('keeps every digit and character of %j', (text) => {
    insert.run(LARGEST, text, text);
    const [json] = page.all(2);
    expect(json).toContain(`"id":${LARGEST},`);
    expect(JSON.parse(json!)).toMatchObject({ text, note: text });
  });

  it('omits members that are NULL, whatever the entity declares', () => {
    insert.run(1, 'cat', null);
    insert.run(2, null, 'dog');
    expect(page.all(2)).toEqual(['{"id":1,"text":"cat"}', '{"id":2,"note":"dog"}']);
  });

  it('has linear length for any number of optional members', () => {
    const optional = Array.from({ length: 12 }, (_, index) => column(`m${index}`, 'text'));
    const wide = pageStatement({ ...WORDS, columns: [ID, ...optional] }, [], false);
    expect(wide.sqlite.length).toBeLessThan(1_400);
  });
});

describe(pageName.name, () => {
  it('differs for each combination of filters', () => {
    const [text, note] = OTHERS;
    const names = [[], [text!], [note!], [text!, note!]].map((filters) => pageName(WORDS, filters));
    expect(new Set(names).size).toBe(names.length);
  });
});
