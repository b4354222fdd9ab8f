import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { dataSourceOptions } from '../data-source-options.js';
import { run, Statement, type Work } from '../statement.js';
import { makeDurable } from './sqlite.connection.js';
import { SqliteDataSource } from './sqlite.data-source.js';
import { SqliteEngine, SqliteStatements } from './sqlite.engine.js';

describe(SqliteStatements.name, () => {
  let database: Database;
  let statements: SqliteStatements;
  beforeEach(() => {
    database = new Sqlite(':memory:');
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

const INSERT = new Statement('insert', () => 'INSERT INTO words (word) VALUES ($1)');
const WORDS = new Statement<{ word: string }>(
  'words',
  () => 'SELECT word FROM words ORDER BY word',
);

describe(SqliteEngine.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-engine-'));
  const path = join(directory, 'words.db');
  let dataSource: SqliteDataSource;
  let engine: SqliteEngine;
  /** Of another process, as far as SQLite can tell. */
  let other: Database;

  beforeAll(async () => {
    const options = dataSourceOptions({ url: `sqlite:${path}`, poolSize: 1 });
    if (options.type !== 'better-sqlite3') throw new Error('This is about SQLite');
    dataSource = new SqliteDataSource(options);
    await dataSource.initialize();
    engine = new SqliteEngine(dataSource);
    other = new Sqlite(path);
  });
  beforeEach(async () => {
    other.exec('CREATE TABLE words (word text PRIMARY KEY)');
    // Into a view that does not know the last test's.
    await new Promise((resume) => setImmediate(resume));
  });
  afterEach(() => {
    jest.restoreAllMocks();
    other.exec('DROP TABLE words');
  });
  afterAll(async () => {
    other.close();
    engine.onApplicationShutdown();
    await dataSource.destroy();
    rmSync(directory, { recursive: true });
  });

  const add = (word: string) => engine.write(() => run(INSERT, word));
  const words = () => engine.query(WORDS).map(({ word }) => word);
  const turn = () => new Promise((resume) => setImmediate(resume));
  /** What `exec` is given, of whatever connection, until the test ends. */
  const watchExec = (before: (sql: string) => void): void => {
    const { exec } = Sqlite.prototype;
    jest.spyOn(Sqlite.prototype, 'exec').mockImplementation(function (this: Database, sql) {
      before(sql);
      return exec.call(this, sql);
    });
  };
  function* addAndFail(word: string): Work<never> {
    yield* run(INSERT, word);
    throw new Error('second thoughts');
  }

  it('commits what comes in one turn together', async () => {
    const commits: string[] = [];
    watchExec((sql) => void (sql === 'COMMIT' && commits.push(sql)));
    await Promise.all(Array.from({ length: 50 }, (_, index) => add(`${index}`)));
    expect(commits).toHaveLength(1);
    expect(words()).toHaveLength(50);
  });

  it('leaves out a unit that fails before it has written, at the price of nobody else', async () => {
    await add('one');
    const begun: string[] = [];
    watchExec((sql) => void begun.push(sql));
    const refused = engine.write(function* (): Work<never> {
      yield* run(WORDS);
      throw new Error('by rule');
    });
    const results = await Promise.allSettled([add('zero'), add('one'), refused, add('two')]);
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'fulfilled'],
    ]);
    expect(words()).toEqual(['one', 'two', 'zero']);
    expect(begun).toEqual(['BEGIN IMMEDIATE', 'COMMIT']);
  });

  it('undoes a unit that fails after it has written, and it alone', async () => {
    const results = await Promise.allSettled([
      ...[add('zero'), engine.write(() => addAndFail('never')), add('two')],
      ...[engine.write(() => addAndFail('again')), add('three')],
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
    ]);
    expect(words()).toEqual(['three', 'two', 'zero']);
  });

  it('waits for another process that gets in the way of the second try', async () => {
    let begins = 0;
    watchExec((sql) => {
      if (sql !== 'BEGIN IMMEDIATE' || ++begins !== 2) return;
      other.prepare('BEGIN IMMEDIATE').run();
      setTimeout(() => other.prepare('COMMIT').run(), 50);
    });
    const results = await Promise.allSettled([
      add('zero'),
      engine.write(() => addAndFail('never')),
      add('two'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(begins).toBeGreaterThan(2);
    expect(words()).toEqual(['two', 'zero']);
  });

  it('waits for a lock, and commits what has come meanwhile as well', async () => {
    other.exec('BEGIN IMMEDIATE');
    const first = add('first');
    await turn();
    const second = add('second');
    await turn();
    other.exec('COMMIT');
    await Promise.all([first, second]);
    expect(words()).toEqual(['first', 'second']);
  });

  it('takes its turn with the transactions of TypeORM, in the order in which they came', async () => {
    const order: string[] = [];
    const transaction = (name: string) =>
      dataSource
        .transaction((manager) => manager.query(`INSERT INTO words VALUES ('${name}')`))
        .then(() => order.push(name));
    const unit = (name: string) => add(name).then(() => order.push(name));
    const first = transaction('first');
    await turn();
    await Promise.all([first, unit('second'), turn().then(() => transaction('third'))]);
    expect(order).toEqual(['first', 'second', 'third']);
    expect(words()).toEqual(['first', 'second', 'third']);
  });

  it('shows one view of the database for one turn, and a fresh one in the next', async () => {
    await add('before');
    expect(words()).toEqual(['before']);
    other.exec("INSERT INTO words VALUES ('beside')");
    expect(words()).toEqual(['before']);
    await turn();
    expect(words()).toEqual(['before', 'beside']);
  });

  it('shows a writer what it wrote, in the same turn', async () => {
    expect(words()).toEqual([]);
    const added = add('unit').then(words);
    await dataSource.query("INSERT INTO words VALUES ('typeorm')");
    expect(words()).toEqual(['typeorm']);
    expect(await added).toEqual(['typeorm', 'unit']);
    const returned = await dataSource.query("INSERT INTO words VALUES ('zoo') RETURNING word");
    expect(returned).toEqual([{ word: 'zoo' }]);
    expect(words()).toContain('zoo');
  });

  it('shows nobody what a transaction of TypeORM has not committed', async () => {
    await dataSource.transaction(async (manager) => {
      await manager.query("INSERT INTO words VALUES ('perhaps')");
      expect(words()).toEqual([]);
    });
    expect(words()).toEqual(['perhaps']);
  });

  it('goes on after a read that failed', async () => {
    expect(() => engine.first(new Statement('broken', () => 'SELECT * FROM nowhere'))).toThrow();
    await add('one');
    expect(engine.first(WORDS)).toEqual({ word: 'one' });
  });

  it('never writes by a read', () => {
    expect(() => engine.query(INSERT, 'sneaky')).toThrow(/readonly/);
    expect(words()).toEqual([]);
  });

  it('rolls back a commit that fails, and says so to all of it', async () => {
    const full = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    watchExec((sql) => {
      if (sql === 'COMMIT') throw full;
    });
    const results = await Promise.allSettled([add('one'), add('two')]);
    expect(results).toEqual([
      { status: 'rejected', reason: full },
      { status: 'rejected', reason: full },
    ]);
    jest.restoreAllMocks();
    expect(words()).toEqual([]);
    await add('three');
    expect(words()).toEqual(['three']);
  });
});

describe(makeDurable.name, () => {
  it('refuses a database that does not sync its commits', () => {
    const database = new Sqlite(':memory:');
    const { pragma } = database;
    jest
      .spyOn(database, 'pragma')
      .mockImplementation((text, options) =>
        text === 'synchronous' ? 1 : pragma.call(database, text, options),
      );
    expect(() => makeDurable(database)).toThrow(/synchronous=FULL/);
    database.close();
  });
});
