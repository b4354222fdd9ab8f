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
    const sizes = observed.mock.calls.map(([size]) => size as unknown as number);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(50);
    expect(sizes.length).toBeLessThan(10);
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
    const transaction = (word: string) =>
      dataSource.transaction((manager) => manager.query(`INSERT INTO words VALUES ('${word}')`));
    const query = (word: string) => dataSource.query(`INSERT INTO words VALUES ('${word}')`);
    const first = transaction('4');
    await tick();
    await Promise.all([first, add('3'), query('2'), tick().then(() => transaction('1'))]);
    const rows = await database.query<{ word: string }>(
      statement('SELECT word FROM words ORDER BY rowid'),
    );
    expect(rows.map(({ word }) => word)).toEqual(['4', '3', '2', '1']);
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

  it('sees the writes of others in the next tick', async () => {
    expect(await words()).toEqual([]);
    other.exec("INSERT INTO words VALUES ('beside')");
    await tick();
    expect(await words()).toEqual(['beside']);
  });

  it('sees the writes of others in a tick in which the process was suspended', async () => {
    expect(await words()).toEqual([]);
    other.exec("INSERT INTO words VALUES ('beside')");
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + 1000);
    expect(await words()).toEqual(['beside']);
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

  it('acknowledges no write of a commit that fails', async () => {
    other.exec('CREATE TABLE notes (word REFERENCES words DEFERRABLE INITIALLY DEFERRED)');
    const note = statement('INSERT INTO notes (word) VALUES ($1)');
    // They share a commit, unless the machine is too busy.
    const [isStored, isNoted] = await statuses([add('one'), database.write(note, 'two')]);
    expect(isNoted).toBe(false);
    expect(await words()).toEqual(isStored ? ['one'] : []);
    expect(await statuses([add('two'), database.write(note, 'two')])).toEqual([true, true]);
    other.exec('DROP TABLE notes');
  });

  it('loses no acknowledged write where the disk is full, and continues', async () => {
    const { connection } = dataSource.writer;
    connection.pragma('max_page_count = 1');
    const large = 'x'.repeat(1_000_000);
    const results = await statuses([add('one'), add(large), add('two')]);
    expect(results[1]).toBe(false);
    const stored = ['one', 'two'].filter((_word, index) => results[2 * index]);
    expect(await words()).toEqual(stored);
    connection.pragma('max_page_count = 1000000');
    await add('three');
    expect(await words()).toEqual([...stored, 'three'].sort());
  });

  it('lets no write in the background share the commit of a durable one', async () => {
    const { writer } = dataSource;
    const commits: unknown[][] = [];
    jest.spyOn(writer, 'onCommit').mockImplementation((writers) => {
      commits.push([Number(writer.connection.pragma('synchronous', { simple: true })), writers]);
    });
    const background: Statement = { ...INSERT, isBackground: true };
    const writes = [INSERT, background, INSERT].map((each, index) =>
      database.write(each, `${index}`),
    );
    expect(await statuses(writes)).toEqual([true, true, true]);
    const [full, normal] = [2, 1];
    expect(commits).toEqual([
      [full, 1],
      [normal, 1],
      [full, 1],
    ]);
  });
});
