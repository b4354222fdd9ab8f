import { execFileSync } from 'node:child_process';
import fs, { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import Sqlite from 'better-sqlite3';
import { createDataSource, dataSourceOptions } from '../data-source-options.js';
import { SqliteClaim } from './sqlite.claim.js';
import type { SqliteDataSource } from './sqlite.data-source.js';
import { SqliteFile } from './sqlite.file.js';

describe(SqliteFile.name, () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-file-'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('makes the directory and the file for their owner alone, below a relative path too', () => {
    const path = relative('', join(directory, 'data', 'petstore.db'));
    new SqliteFile(path).keepToOwner();
    expect(statSync(join(directory, 'data')).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('takes from others what they could read', () => {
    const path = join(directory, 'petstore.db');
    execFileSync('sh', ['-c', 'umask 000; : > "$1"; : > "$1-wal"', 'sh', path]);
    new SqliteFile(path).keepToOwner();
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(statSync(`${path}-wal`).mode & 0o077).toBe(0);
  });

  it('has what is beside a database written again once the database can be', () => {
    const path = join(directory, 'petstore.db');
    const modeOfLog = (): number => statSync(`${path}-shm`).mode & 0o777;
    for (const each of [path, `${path}-shm`]) fs.writeFileSync(each, '', { mode: 0o400 });
    new SqliteFile(path).keepToOwner();
    expect(modeOfLog()).toBe(0o400);
    fs.chmodSync(path, 0o600);
    new SqliteFile(path).keepToOwner();
    expect(modeOfLog()).toBe(0o600);
  });

  it.each<[string, (path: string) => void]>([
    ['a directory', (path) => fs.mkdirSync(path)],
    ['a text', (path) => fs.writeFileSync(path, 'Shopping: milk, bread')],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ])('leaves alone what is no database: %s', async (_what, make) => {
    const path = join(directory, 'petstore.db');
    make(path);
    fs.chmodSync(path, 0o755);
    expect(() => SqliteClaim.take(path)).toThrow(/petstore.db is not /);
    if (!statSync(path).isFile()) expect(() => SqliteClaim.hold(path)).toThrow(/is not a file/);
    const source = createDataSource(dataSourceOptions({ url: `sqlite:${path}`, poolSize: 1 }));
    await expect(source.initialize()).rejects.toThrow(/petstore.db is not /);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(fs.readdirSync(directory)).toEqual(['petstore.db']);
  });

  it('takes the stamp of its server for its own while that is in the log, as during a backup', async () => {
    const path = join(directory, 'petstore.db');
    SqliteClaim.take(path).release();
    const backup = new Sqlite(path);
    backup.exec('BEGIN; SELECT * FROM sqlite_schema');
    const claim = SqliteClaim.take(path);
    const source = createDataSource(dataSourceOptions({ url: `sqlite:${path}`, poolSize: 1 }));
    await source.initialize();
    const { file } = source as SqliteDataSource;
    try {
      file.assertOurs();
      backup.exec('COMMIT');
      backup.pragma('wal_checkpoint(TRUNCATE)');
      file.assertOurs();
      backup.pragma('user_version = 1');
      backup.pragma('wal_checkpoint(TRUNCATE)');
      expect(() => file.assertOurs()).toThrow(/was overwritten/);
    } finally {
      backup.close();
      await source.destroy();
      claim.release();
    }
  });

  it('asks for no directory relative to a working directory that may be gone', () => {
    const mkdir = jest.spyOn(fs, 'mkdirSync');
    new SqliteFile(relative('', join(directory, 'petstore.db'))).keepToOwner();
    expect(mkdir.mock.calls.map(([path]) => path)).toEqual([directory]);
    mkdir.mockRestore();
  });
});
