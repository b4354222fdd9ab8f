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
    [failure('EADDRINUSE', { syscall: 'listen' }), /set PORT to a free port/],
    [failure('EACCES', { syscall: 'listen' }), /set PORT to a free port above 1023/],
    [failure('EADDRNOTAVAIL', { syscall: 'listen' }), /set HOST to an address of this machine/],
    [failure('ENOTFOUND', { syscall: 'getaddrinfo' }), /set HOST to an address of this machine/],
    [
      failure('EACCES', { syscall: 'open', path: '.env' }),
      /give this user access to \.env or choose/,
    ],
    [failure('EPERM', { syscall: 'chmod', path: '/' }), / \/, which belongs to user 0, or choose/],
    [failure('SQLITE_CANTOPEN'), /give this user access to .*\.db.* or choose another file\n$/],
    [failure('SQLITE_READONLY_DIRECTORY'), /give this user access to .*\.db/],
    [failure('SQLITE_NOTADB'), /copy the damaged file, and run petstore restore BACKUP\n$/],
    [failure('SQLITE_FULL'), /free disk space\n$/],
    [failure('ERR_DLOPEN_FAILED'), /npm install-scripts approve better-sqlite3.*pnpm/],
    [
      new Error('Could not locate the bindings file. Tried:\n → a\n → b'),
      /^error: the SQLite binding .* npx --allow-scripts=better-sqlite3.* postgres:\/\/ URL\n$/,
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
