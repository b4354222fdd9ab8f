import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import { createDataSource, dataSourceOptions } from './data-source-options.js';
import { prepareConnection } from './sqlite.connection.js';
import { SqliteEngine } from './sqlite.engine.js';
import { run, Statement } from './statement.js';

const INSERT = new Statement('insert', () => 'INSERT INTO words (word) VALUES ($1)');
const WORDS = new Statement<{ word: string }>(
  'words',
  () => 'SELECT word FROM words ORDER BY word',
);
const busy = Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });

describe(SqliteEngine.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-engine-'));
  let dataSource: DataSource;
  let database: Database;
  let engine: SqliteEngine;

  beforeAll(async () => {
    const url = `sqlite:${directory}/words.db`;
    dataSource = await createDataSource(dataSourceOptions({ url, poolSize: 1 })).initialize();
    ({ databaseConnection: database } = dataSource.driver as unknown as {
      databaseConnection: Database;
    });
    engine = new SqliteEngine(dataSource);
  });
  beforeEach(() => void database.exec('CREATE TABLE words (word text PRIMARY KEY)'));
  afterEach(() => {
    jest.restoreAllMocks();
    database.exec('DROP TABLE words');
  });
  afterAll(async () => {
    engine.onApplicationShutdown();
    await dataSource.destroy();
    rmSync(directory, { recursive: true });
  });

  const add = (word: string) => engine.write(() => run(INSERT, word));
  const words = () => engine.query(WORDS).map(({ word }) => word);
  /** Lets every `BEGIN` but the `fails`th through. */
  const failBegin = (fails: number): void => {
    const exec = database.exec.bind(database);
    let begun = 0;
    jest.spyOn(database, 'exec').mockImplementation((sql) => {
      if (sql.includes('BEGIN') && ++begun === fails) throw busy;
      return exec(sql);
    });
  };

  it('does again, one by one, what a failing unit was committed with', async () => {
    await add('one');
    const results = await Promise.allSettled([add('zero'), add('one'), add('two')]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(words()).toEqual(['one', 'two', 'zero']);
  });

  it('rejects the one unit that another process gets in the way of then', async () => {
    await add('one');
    failBegin(3);
    const results = await Promise.allSettled([add('zero'), add('one'), add('two')]);
    expect(results).toEqual([
      { status: 'fulfilled', value: [] },
      { status: 'rejected', reason: busy },
      { status: 'fulfilled', value: [] },
    ]);
    expect(words()).toEqual(['one', 'two', 'zero']);
  });

  it('waits for a lock, and commits what has come meanwhile as well', async () => {
    failBegin(1);
    const first = add('first');
    await new Promise((resume) => setImmediate(resume));
    await Promise.all([first, add('second')]);
    expect(words()).toEqual(['first', 'second']);
  });

  it('shows one view of the database for one turn, and a fresh one in the next', async () => {
    await add('before');
    expect(words()).toEqual(['before']);
    const other = new Sqlite(database.name);
    other.exec("INSERT INTO words VALUES ('beside')");
    expect(words()).toEqual(['before']);
    await new Promise((resume) => setImmediate(resume));
    expect(words()).toEqual(['before', 'beside']);
    other.close();
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
    const exec = database.exec.bind(database);
    const full = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    jest.spyOn(database, 'exec').mockImplementation((sql) => {
      if (sql === 'COMMIT') throw full;
      return exec(sql);
    });
    const results = await Promise.allSettled([add('one'), add('two')]);
    expect(results).toEqual([
      { status: 'rejected', reason: full },
      { status: 'rejected', reason: full },
    ]);
    expect(words()).toEqual([]);
    expect(database.inTransaction).toBe(false);
  });
});

describe(prepareConnection.name, () => {
  it('refuses a database that does not sync its commits', () => {
    const pragma = (text: string) => (text === 'synchronous' ? 1 : undefined);
    expect(() => prepareConnection({ pragma } as unknown as Database)).toThrow(/synchronous=FULL/);
  });
});
