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

  const listen = (code: string, port: number) => failure(code, { syscall: 'listen', port });
  const lookUp = (hostname: string) =>
    failure('ENOTFOUND', { syscall: 'getaddrinfo', hostname, stack: 'Error: it failed' });
  const FOREIGN = /^error: the tables .* from an earlier build.*; set DATABASE_URL to an empty/;

  it.each([
    [listen('EADDRINUSE', 3000), /set PORT to a free one\n$/],
    [listen('EADDRINUSE', 4000), /an extension uses this address.*; change it there\n$/],
    [listen('EACCES', 3000), /set PORT to a port above 1023\n$/],
    [listen('EADDRNOTAVAIL', 3000), /set HOST to an address of this machine\n$/],
    [lookUp('127.0.0.1'), /set HOST to an address of this machine\n$/],
    [lookUp('db.internal'), /an extension uses this address/],
    [
      failure('EACCES', { syscall: 'open', path: '.env' }),
      /give this user access to \.env or choose/,
    ],
    [failure('EPERM', { syscall: 'chmod', path: '/' }), / \/, which belongs to user 0, or choose/],
    [failure('SQLITE_CANTOPEN'), /give this user access to .*\.db.* or choose another file\n$/],
    [failure('SQLITE_READONLY_DIRECTORY'), /give this user access to .*\.db/],
    [new Error('The migration failed: table "pets" already exists'), FOREIGN],
    [new Error('The migration failed: relation "pets" already exists'), FOREIGN],
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

  it('chooses the setting of the admin port, and the host if any port is free', () => {
    Object.assign(process.env, { ADMIN_PORT: '9001', ADMIN_HOST: '192.0.2.1', PORT: '0' });
    const of = (address: string) => failure('EADDRNOTAVAIL', { syscall: 'listen', address });
    expect(report(listen('EADDRINUSE', 9001))).toMatch(/set ADMIN_PORT to a free one\n$/);
    expect(report(of('192.0.2.1'))).toMatch(/set ADMIN_HOST to an address of this machine\n$/);
    expect(report(of('127.0.0.1'))).toMatch(/set HOST to an address of this machine\n$/);
    expect(report(of('192.0.2.2'))).toMatch(/an extension uses this address/);
    for (const name of ['ADMIN_PORT', 'ADMIN_HOST', 'PORT']) delete process.env[name];
  });

  it('prints each fault of the configuration and of extensions on its own line', () => {
    for (const type of [ConfigError, ExtensionError]) {
      const lines = 'error: PORT is wrong\nerror: HOST is wrong\n';
      expect(report(new type(['PORT is wrong', 'HOST is wrong']))).toBe(lines);
    }
  });
});
