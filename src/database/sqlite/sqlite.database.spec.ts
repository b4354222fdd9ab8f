import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite, { type Database } from 'better-sqlite3';
import { Metrics } from '../../telemetry/metrics.js';
import { dataSourceOptions } from '../data-source-options.js';
import type { Statement } from '../database.js';
import { DatabaseMetrics } from '../database-metrics.js';
import { SqliteDataSource } from './sqlite.data-source.js';
import { SqliteDatabase } from './sqlite.database.js';

const statement = (sqlite: string): Statement => ({ name: sqlite, sqlite, postgres: '' });
const INSERT = statement('INSERT INTO words (word) VALUES ($1) RETURNING word');
/** Its second row fails after the first one was written. */
const INSERT_WITH_ZERO = statement("INSERT INTO words (word) VALUES ($1), ('zero')");
const WORDS = statement('SELECT word FROM words ORDER BY word');

describe(SqliteDatabase.name, () => {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-database-'));
  const path = join(directory, 'words.db');
  let dataSource: SqliteDataSource;
  let database: SqliteDatabase;
  const metrics = new DatabaseMetrics(new Metrics());
  /** A connection of another process, as far as SQLite can tell. */
  let other: Database;

  beforeAll(async () => {
    const options = dataSourceOptions(`sqlite:${path}`);
    if (options.type !== 'better-sqlite3') throw new Error('This is about SQLite');
    dataSource = new SqliteDataSource(options);
    await dataSource.initialize();
    database = new SqliteDatabase(dataSource, metrics);
    other = new Sqlite(path);
  });
  beforeEach(async () => {
    other.exec('CREATE TABLE words (word text PRIMARY KEY)');
    await tick();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    other.exec('DROP TABLE words');
  });
  afterAll(async () => {
    other.close();
    database.onApplicationShutdown();
    await dataSource.destroy();
    rmSync(directory, { recursive: true });
  });

  const add = (word: string) => database.write(INSERT, word);
  const words = async () => (await database.query<{ word: string }>(WORDS)).map(({ word }) => word);
  const tick = () => new Promise((resume) => setImmediate(resume));
  const statuses = async (writes: Promise<unknown>[]) =>
    (await Promise.allSettled(writes)).map(({ status }) => status === 'fulfilled');
  it('commits the writes of one tick together', async () => {
    const observed = jest.spyOn(metrics.batchSizes, 'observe');
    const names = Array.from({ length: 50 }, (_, index) => `${index}`);
    expect(await Promise.all(names.map(add))).toEqual(names.map((word) => [{ word }]));
    expect(observed.mock.calls).toEqual([[50]]);
    expect(await words()).toHaveLength(50);
  });

  it('undoes a write that fails, and no other', async () => {
    const writes = [
      add('zero'),
      database.write(INSERT_WITH_ZERO, 'never'),
      add('two'),
      add('zero'),
    ];
    expect(await statuses(writes)).toEqual([true, false, true, false]);
    expect(await words()).toEqual(['two', 'zero']);
    await expect(add('two')).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT_PRIMARYKEY' });
  });

  it('waits for another process that gets in the way of the second attempt', async () => {
    const { writer } = dataSource;
    const begin = writer.begin.bind(writer);
    const begins = jest.spyOn(writer, 'begin').mockImplementation(() => {
      if (begins.mock.calls.length === 2) {
        other.prepare('BEGIN IMMEDIATE').run();
        setTimeout(() => other.prepare('COMMIT').run(), 50);
      }
      return begin();
    });
    const writes = [add('zero'), database.write(INSERT_WITH_ZERO, 'never'), add('two')];
    expect(await statuses(writes)).toEqual([true, false, true]);
    expect(begins.mock.calls.length).toBeGreaterThan(2);
    expect(await words()).toEqual(['two', 'zero']);
  });

  it('waits for the lock of another process, and commits later writes as well', async () => {
    other.exec('BEGIN IMMEDIATE');
    const first = add('first');
    await tick();
    const second = add('second');
    await tick();
    other.exec('COMMIT');
    await Promise.all([first, second]);
    expect(await words()).toEqual(['first', 'second']);
  });

  it('takes turns with the transactions of TypeORM, first come, first served', async () => {
    const order: string[] = [];
    const transaction = (name: string) =>
      dataSource
        .transaction((manager) => manager.query(`INSERT INTO words VALUES ('${name}')`))
        .then(() => order.push(name));
    const write = (name: string) => add(name).then(() => order.push(name));
    const first = transaction('first');
    await tick();
    await Promise.all([first, write('second'), tick().then(() => transaction('third'))]);
    expect(order).toEqual(['first', 'second', 'third']);
    expect(await words()).toEqual(['first', 'second', 'third']);
  });

  it('undoes a transaction that fails, and none of those beside it', async () => {
    const insert = (word: string) =>
      dataSource.transaction(async (manager) => {
        await manager.query(`INSERT INTO words VALUES ('${word}!')`);
        await manager.query(`INSERT INTO words VALUES ('${word}')`);
      });
    await add('zero');
    const transactions = ['one', 'zero', 'two', 'one', 'three'].map(insert);
    expect(await statuses([...transactions, add('four')])).toEqual([
      ...[true, false, true, false, true],
      true,
    ]);
    expect(await words()).toEqual([
      'four',
      'one',
      'one!',
      'three',
      'three!',
      'two',
      'two!',
      'zero',
    ]);
  });

  it('acknowledges no transaction of a commit that fails', async () => {
    other.exec('CREATE TABLE notes (word REFERENCES words DEFERRABLE INITIALLY DEFERRED)');
    const insert = (table: string) =>
      dataSource.transaction((manager) => manager.query(`INSERT INTO ${table} VALUES ('one')`));
    expect(await statuses([insert('notes')])).toEqual([false]);
    expect(await words()).toEqual([]);
    expect(await statuses([insert('words'), insert('notes')])).toEqual([true, true]);
    other.exec('DROP TABLE notes');
  });

  it('has one read view per tick, and sees the writes of others in the next', async () => {
    await add('before');
    await tick();
    expect(await words()).toEqual(['before']);
    other.exec("INSERT INTO words VALUES ('beside')");
    expect(await words()).toEqual(['before']);
    await tick();
    expect(await words()).toEqual(['before', 'beside']);
  });

  it('reads its own write in the same tick', async () => {
    expect(await words()).toEqual([]);
    const added = add('port').then(words);
    await dataSource.query("INSERT INTO words VALUES ('typeorm')");
    expect(await words()).toContain('typeorm');
    expect(await added).toContain('port');
  });

  it('continues after a read that failed', async () => {
    const failing = database.query(statement('SELECT * FROM nowhere'));
    await expect(failing).rejects.toThrow('no such table: nowhere');
    await add('one');
    expect(await words()).toEqual(['one']);
  });

  it('rejects all writes of a commit that fails', async () => {
    const full = Object.assign(new Error('disk full'), { code: 'SQLITE_FULL' });
    const { writer } = dataSource;
    jest.spyOn(writer, 'commit').mockImplementation(() => {
      writer.rollback();
      return Promise.reject(full);
    });
    expect(await statuses([add('one'), add('two')])).toEqual([false, false]);
    jest.restoreAllMocks();
    expect(await words()).toEqual([]);
    await add('three');
    expect(await words()).toEqual(['three']);
  });
});
