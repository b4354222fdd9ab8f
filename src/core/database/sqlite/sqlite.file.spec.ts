import fs, { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createDataSource, dataSourceOptions } from '../data-source-options.js';
import { createFile, DatabaseServedError, isServed, lockFile } from './sqlite.file.js';

describe('a database file', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'petstore-file-'));
    path = join(directory, 'data', 'petstore.db');
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('is created for its owner only, with its directory, also below a relative path', () => {
    const mkdir = jest.spyOn(fs, 'mkdirSync');
    createFile(relative('', path));
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(mkdir.mock.calls.map(([made]) => made)).toEqual([join(path, '..')]);
    mkdir.mockRestore();
  });

  it('is refused below /proc, where nobody can create a directory', () => {
    expect(() => createFile('/proc/petstore/data/petstore.db')).toThrow(
      'cannot create /proc/petstore/data; set DATABASE_URL to another file',
    );
  });

  it('is not taken for one that a server has if that cannot be found out', () => {
    createFile(path);
    fs.mkdirSync(`${path}-server`);
    expect(isServed(path)).toBe(false);
    fs.rmdirSync(`${path}-server`);
    const release = lockFile(path);
    expect(isServed(path)).toBe(true);
    release();
  });

  it('is refused if it is a directory, which stays as it is', async () => {
    fs.mkdirSync(path, { recursive: true });
    fs.chmodSync(path, 0o755);
    expect(() => lockFile(path)).toThrow(/^EISDIR: .*petstore.db/);
    const source = await createDataSource(dataSourceOptions(`sqlite:${path}`));
    await expect(source.initialize()).rejects.toThrow(/^EISDIR: .*petstore.db/);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(fs.readdirSync(join(path, '..'))).toEqual(['petstore.db']);
  });

  it('is refused if it is a text, which stays as it is', async () => {
    path = join(directory, 'notes.txt');
    fs.writeFileSync(path, 'Shopping: milk, bread', { mode: 0o644 });
    const source = await createDataSource(dataSourceOptions(`sqlite:${path}`));
    await expect(source.initialize()).rejects.toMatchObject({ code: 'SQLITE_NOTADB' });
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(fs.readdirSync(directory)).toEqual(['notes.txt']);
  });

  it('is not reported as damaged if its lock file is', () => {
    createFile(path);
    fs.writeFileSync(`${path}-server`, 'x'.repeat(9_999));
    expect(() => lockFile(path)).toThrow(`${path}-server is damaged; move it away`);
  });

  it.each<[string, (path: string, other: string) => void]>([
    ['its path', (path, other) => fs.symlinkSync(path, other)],
    ['a hard link in another directory', (path, other) => fs.linkSync(path, other)],
  ])('is served once, also by %s, until the server ends', (_by, link) => {
    const unlock = lockFile(path);
    const other = join(directory, 'other.db');
    link(path, other);
    expect(() => lockFile(other)).toThrow(DatabaseServedError);
    expect(() => lockFile(other)).toThrow(`by another server (process ${process.pid} on `);
    unlock();
    lockFile(other)();
  });
});
