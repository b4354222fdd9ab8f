import { ConfigError } from '../config/config.js';
import { reportFailure } from './failure.js';
import { Output } from './output.js';

describe(reportFailure.name, () => {
  function report(error: unknown): string {
    let written = '';
    const never = () => {
      throw new Error('an error is not a result');
    };
    reportFailure(error, new Output(never, (text) => (written += text)));
    return written;
  }
  const failure = (code: string, more = {}) =>
    Object.assign(new Error(`${code}: it failed`), { code, ...more });

  it.each([
    [failure('EADDRINUSE'), /set PORT to a free one\n$/],
    [failure('EADDRNOTAVAIL'), /set HOST to an address of this machine\n$/],
    [failure('EACCES'), /permission denied; choose another path, or a PORT above 1023\n$/],
    [failure('SQLITE_NOTADB'), /copy the damaged file, and run petstore restore BACKUP\n$/],
    [failure('SQLITE_FULL'), /free disk space\n$/],
    [failure('SQLITE_IOERR_SHMSIZE'), /free disk space, or repair the disk\n$/],
    [failure('ERR_DLOPEN_FAILED'), /^error: the SQLite binding .* npm rebuild better-sqlite3/],
    [
      new Error('Could not locate the bindings file. Tried:\n → a\n → b'),
      /^error: the SQLite binding .* npm rebuild better-sqlite3 .* postgres:\/\/ URL\n$/,
    ],
    [failure('EIO'), /^error: EIO: it failed\n$/],
    [new Error(''), /^error: Error\n$/],
  ])('explains %s in one line', (error, line) => {
    expect(report(error)).toMatch(line);
    expect(report(error)).toMatch(/^error: [^\n]+\n$/);
  });

  it('prints each fault of a configuration on its own line', () => {
    expect(report(new ConfigError(['PORT is wrong', 'HOST is wrong']))).toMatch(
      /PORT is wrong\n[^\n]*HOST is wrong/,
    );
  });
});
