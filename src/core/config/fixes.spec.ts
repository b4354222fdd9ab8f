import fs from 'node:fs';
import { explained, ExplainedError, fixOf, type Place } from './fixes.js';

const failure = (code: string, message = 'it failed') =>
  Object.assign(new Error(message), { code });
class ReplyError extends Error {
  override readonly name = 'ReplyError';
}
/** Redis 7.0 and 7.2, for a user that may run scripts, but not the commands within. */
const DENIED = [
  "ERR The user executing the script can't run this command or subcommand script: db8d",
  'ERR ACL failure in script: User scr has no permissions to run the hset command',
  "NOPERM this user has no permissions to run the 'eval' command",
];

describe(fixOf.name, () => {
  it.each<[Place, Error, RegExp]>([
    ['sqlite', failure('SQLITE_CANTOPEN'), /^give this user access to p\.db\* and/],
    ['sqlite', failure('SQLITE_READONLY_DIRECTORY'), /access to p\.db\* and/],
    ['sqlite', failure('SQLITE_READONLY_DBMOVED'), /^the file was .* replaced, .* start again$/],
    ['sqlite', failure('EACCES'), /access to p\.db\* and/],
    ['sqlite', failure('EEXIST'), /a part of the path p\.db is not a folder, or a link/],
    ['sqlite', failure('SQLITE_NOTADB'), /^set DATABASE_URL to another file; or, .* move it/],
    // Another file would be a new database without keys.
    ['sqlite', failure('SQLITE_CORRUPT'), /^stop the server, copy the damaged file, and run/],
    ['backup', failure('EROFS'), /^the file system of p\.db is read-only: .* ReadWritePaths=/],
    ['sqlite', failure('SQLITE_FULL'), /^free space on the disk of p\.db$/],
    ['sqlite', failure('SQLITE_IOERR_SHMSIZE'), /free space on the disk of p\.db, or repair/],
    ['sqlite', failure('ERR_DLOPEN_FAILED'), /npm install-scripts approve better-sqlite3.*pnpm/],
    [
      'sqlite',
      new Error('Could not locate the bindings file. Tried:\n → a'),
      /postgres:\/\/ URL \(with PostgreSQL, only doctor and openapi need/,
    ],
    ['postgres', failure('42P07'), /^if petstore_migrations lost its rows, restore a backup;/],
    ['sqlite', failure('SQLITE_ERROR', 'table "pets" already exists'), /^if petstore_migrations/],
    ['postgres', failure('ECONNREFUSED'), /^start PostgreSQL/],
    ['postgres', failure('57014', 'canceling statement due to statement timeout'), /holds a lock/],
    ...[
      failure('08006'),
      failure('57P01'),
      failure('ECONNRESET'),
      new Error('Connection terminated unexpectedly'),
      new Error('Query read timeout'),
    ].map((error): [Place, Error, RegExp] => [
      'postgres',
      error,
      /^the server in DATABASE_URL closed the connection or does not respond: try again/,
    ]),
    ['postgres', new Error('Connection terminated due to connection timeout'), /be reached from/],
    [
      'postgres',
      failure('28000', 'role "zoo" is not permitted to log in'),
      /^run ALTER ROLE \.\.\. LOGIN/,
    ],
    [
      'postgres',
      failure('55000', 'database "zoo" is not currently accepting connections'),
      /^run ALTER DATABASE/,
    ],
    ['postgres', failure('42501'), /the role in DATABASE_URL/],
    [
      'postgres',
      failure('25006'),
      /^point DATABASE_URL at the primary; on the primary, see why default_trans/,
    ],
    ['postgres', failure('CERT_HAS_EXPIRED'), /^renew the certificate/],
    ['postgres', failure('ERR_TLS_CERT_ALTNAME_INVALID'), /or use its host name in DATABASE_URL$/],
    ['port', failure('EADDRINUSE'), /another program uses this port.* p\.dbPORT$/],
    ['port', failure('EACCES'), /above 1023/],
    ['port', failure('ENOTFOUND'), /an address of this machine with p\.dbHOST$/],
    ...DENIED.map((text): [Place, Error, RegExp] => [
      'redis',
      new ReplyError(text),
      /^grant the rights that docs\/operating\.md lists/,
    ]),
    [
      'redis',
      new ReplyError(
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'",
      ),
      /^point REDIS_URL at the primary$/,
    ],
    ['redis', new ReplyError('NOREPLICAS Not enough good replicas'), /min-replicas-to-write$/],
    ['redis', new ReplyError('ERR max number of clients reached'), /^raise maxclients/],
    ['redis', new ReplyError('MISCONF Redis cannot persist'), /^Redis runs, but rejects/],
    ...[
      "ENOENT: no such file or directory, open '/ca.pem'",
      "EACCES: permission denied, open '/ca.pem'",
      'EISDIR: illegal operation on a directory, read',
    ].map((text): [Place, Error, RegExp] => [
      'postgres',
      failure(text.split(':')[0]!, text),
      /^correct the path of the certificate or key .* let this user read it$/,
    ]),
    ['postgres', failure('DEPTH_ZERO_SELF_SIGNED_CERT'), /if it is set, check that FILE$/],
    ['redis', failure('ECONNREFUSED'), /^check REDIS_URL, and that Redis runs/],
  ])('chooses the fix in %s for %s', (place, error, fix) => {
    expect(fixOf(place, error, 'p.db')).toMatch(fix);
  });

  it('says for a code of SQLite that the file system is read-only', () => {
    const access = jest.spyOn(fs, 'accessSync').mockImplementation(() => {
      throw failure('EROFS');
    });
    for (const code of ['SQLITE_CANTOPEN', 'SQLITE_READONLY', 'EROFS']) {
      expect(fixOf('sqlite', failure(code), 'p.db')).toMatch(/of p\.db is read-only: remount it/);
    }
    access.mockRestore();
  });

  it.each<[Place, string]>([
    ['sqlite', 'EADDRINUSE'],
    ['sqlite', 'ECONNREFUSED'],
    ['postgres', 'SQLITE_FULL'],
    ['port', 'SQLITE_CANTOPEN'],
    ['port', 'ECONNREFUSED'],
  ])('has no fix in %s for %s of another place', (place, code) => {
    expect(fixOf(place, failure(code))).toBeUndefined();
  });
});

describe(explained.name, () => {
  it('adds the fix to an error of the place, and leaves any other as it is', async () => {
    const taken = failure('EADDRINUSE', 'listen EADDRINUSE :::80');
    const run = (error: Error) => explained('port', 'ADMIN_', () => Promise.reject(error));
    await expect(run(taken)).rejects.toEqual(
      new ExplainedError(
        'listen EADDRINUSE :::80',
        'another program uses this port: choose a free one with ADMIN_PORT',
      ),
    );
    const other = new Error('no toys');
    await expect(run(other)).rejects.toBe(other);
  });
});
