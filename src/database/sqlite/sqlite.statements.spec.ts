import Database from 'better-sqlite3';
import { Statement } from '../statement.js';
import { SqliteStatements } from './sqlite.statements.js';

describe(SqliteStatements.name, () => {
  let database: Database.Database;
  let statements: SqliteStatements;
  beforeEach(() => {
    database = new Database(':memory:');
    database.exec('CREATE TABLE numbers (n); INSERT INTO numbers VALUES (1), (2), (3)');
    statements = new SqliteStatements(database);
  });
  afterEach(() => database.close());

  it('prepares each statement once', () => {
    const statement = new Statement('numbers', () => 'SELECT n FROM numbers WHERE n = $1');
    expect(statements.of(statement)).toBe(statements.of(statement));
  });

  // What SQLite does with a limit that is a parameter and nothing else can be seen in a profile alone.
  it('leaves no limit for which SQLite would plan the statement anew', () => {
    const page = new Statement('page', () => 'SELECT n FROM numbers WHERE n > $1 LIMIT $2');
    const prepared = statements.of(page);
    expect(prepared.all(0, 2)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(prepared.all(1, 1)).toEqual([{ n: 2 }]);
    expect(prepared.source).toMatch(/ LIMIT \+\?$/);
  });

  it('refuses parameters that are out of order', () => {
    const swapped = new Statement('swapped', () => 'SELECT $2, $1');
    expect(() => statements.of(swapped)).toThrow('Parameters out of order');
  });

  it('gives no rows of a write that returns none', () => {
    const remove = new Statement('remove', () => 'DELETE FROM numbers WHERE n = $1');
    expect(statements.of(remove).all(1)).toEqual([]);
    expect(database.prepare('SELECT count(*) FROM numbers').pluck().get()).toBe(2);
  });
});
