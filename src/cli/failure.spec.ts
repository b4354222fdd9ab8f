import { ConfigError } from '../config/config.js';
import { ExtensionError } from '../extensions/check.js';
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
    [failure('EADDRINUSE'), /choose a free one \(PORT, ADMIN_PORT\)\n$/],
    [failure('EACCES'), /choose a port above 1023/],
    [failure('EADDRNOTAVAIL'), /choose an address of this machine \(HOST, ADMIN_HOST\)\n$/],
    [failure('ENOTFOUND'), /correct this host name/],
    [
      failure('EACCES', { syscall: 'open', path: '.env' }),
      /give this user access to \.env, or choose/,
    ],
    [failure('EPERM', { syscall: 'chmod', path: '/' }), /access to \/, or choose/],
    [failure('SQLITE_CANTOPEN'), /give this user access to .*\.db, or choose another file\n$/],
    [failure('SQLITE_READONLY_DIRECTORY'), /give this user access to .*\.db/],
    [failure('SQLITE_NOTADB'), /copy the damaged file, and run petstore restore BACKUP\n$/],
    [failure('SQLITE_FULL'), /free disk space\n$/],
    [failure('SQLITE_IOERR_SHMSIZE'), /free disk space, or repair the disk\n$/],
    [failure('ERR_DLOPEN_FAILED'), /npm install-scripts approve better-sqlite3.*pnpm/],
    [
      new Error('Could not locate the bindings file. Tried:\n → a\n → b'),
      /^error: the SQLite binding .* npx --allow-scripts=better-sqlite3.* postgres:\/\/ URL\n$/,
    ],
    [
      Object.assign(new TypeError('x is undefined'), {
        stack:
          'TypeError: x is undefined\n    at of (node:fs:1:2)\n    at Orders.start (/shop/a.js:3:4)',
      }),
      /^error: TypeError: x is undefined at Orders.start \(\/shop\/a.js:3:4\)\n$/,
    ],
    [failure('EIO'), /^error: EIO: it failed\n$/],
    [new Error(''), /^error: Error\n$/],
    ['a text', /^error: a text\n$/],
    [undefined, /^error: undefined\n$/],
  ])('explains %s in one line', (error, line) => {
    expect(report(error)).toMatch(line);
    expect(report(error)).toMatch(/^error: [^\n]+\n$/);
  });

  it('prints each fault of the configuration and of extensions on its own line', () => {
    for (const type of [ConfigError, ExtensionError]) {
      const lines = 'error: PORT is wrong\nerror: HOST is wrong\n';
      expect(report(new type(['PORT is wrong', 'HOST is wrong']))).toBe(lines);
    }
  });
});
