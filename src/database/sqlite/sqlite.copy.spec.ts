import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assertUnused, DatabaseInUseError } from './sqlite.copy.js';

describe(assertUnused.name, () => {
  let directory: string;
  beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'petstore-copy-'))));
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it.each(['-wal', '-shm', '-journal', '-server'])(
    'refuses a database with a %s beside it, and that itself',
    (suffix) => {
      const file = join(directory, 'x.db');
      writeFileSync(file, '');
      expect(() => assertUnused(file)).not.toThrow();
      expect(() => assertUnused(file + suffix)).toThrow(/belongs to the database .*x\.db: name/);
      writeFileSync(file + suffix, '');
      expect(() => assertUnused(file)).toThrow(DatabaseInUseError);
      expect(() => assertUnused(file + suffix)).toThrow(DatabaseInUseError);
    },
  );

  it('takes a directory for no database', () => {
    mkdirSync(join(directory, 'pet'));
    expect(() => assertUnused(join(directory, 'pet-server'))).not.toThrow();
  });
});
