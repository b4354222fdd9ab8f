import { accessSync, constants } from 'node:fs';

/** Where a failure happened: elsewhere, the same error code needs another fix. */
export type Place = 'sqlite' | 'backup' | 'postgres' | 'redis' | 'port';

const RESTORE = 'stop the server, copy the damaged file, and run petstore restore BACKUP';
const READ_ONLY =
  'the file system of {} is read-only: remount it, ' +
  'or add the folder to ReadWritePaths= of the systemd unit';
const TABLE_EXISTS =
  'if petstore_migrations lost its rows, restore a backup; ' +
  'otherwise, another program or extension has a table of this name';
const ALLOW_SCRIPT =
  'allow the install script of better-sqlite3 (npm install-scripts approve better-sqlite3, ' +
  'npx --allow-scripts=better-sqlite3, pnpm approve-builds), ' +
  'run npm rebuild better-sqlite3 with this Node.js, or set DATABASE_URL to a postgres:// URL ' +
  '(with PostgreSQL, only doctor and openapi need better-sqlite3)';
export const CHECK_URL =
  'check DATABASE_URL, and that PostgreSQL runs and can be reached from this machine';
export const CLOCK_FIX =
  'synchronize the clocks of all machines with NTP (chrony, systemd-timesyncd)';

/**
 * The fixes for operators: the first whose pattern matches the code or the message of the error. No
 * fix deletes data or takes rights away. `{}` is the subject: the file of SQLite or of a backup, or
 * the prefix of the settings of a port.
 */
const FIXES: Readonly<Record<Place, readonly (readonly [cause: RegExp, fix: string])[]>> = {
  sqlite: [
    [/^SQLITE_CORRUPT/, RESTORE],
    [
      /^SQLITE_NOTADB/,
      'set DATABASE_URL to another file; or, if this is the damaged database, stop the server, ' +
        'move it and its -wal file away, and run petstore restore BACKUP',
    ],
    [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'free space on the disk of {}'],
    [/^EROFS/, READ_ONLY],
    [
      /^SQLITE_READONLY_DBMOVED/,
      'the file was moved or replaced, maybe by petstore restore: start again',
    ],
    [
      /^(?:SQLITE_(?:CANTOPEN|READONLY)|EACCES|EPERM)/,
      'give this user access to {}* and its folder, or set DATABASE_URL to another file',
    ],
    [
      /^(?:ENOTDIR|EEXIST|ENOENT|ELOOP)/,
      'correct DATABASE_URL: a part of the path {} is not a folder, or a link to nothing',
    ],
    [/^SQLITE_IOERR/, 'free space on the disk of {}, or repair the disk'],
    [/^SQLITE_BUSY/, 'another process uses {}; end it, or try again'],
    [/table .* already exists/, TABLE_EXISTS],
    [/^ERR_DLOPEN_FAILED|^Could not locate the bindings file/, ALLOW_SCRIPT],
  ],
  backup: [
    [/^(?:SQLITE_FULL|ENOSPC|EDQUOT)/, 'free space on the disk of {}'],
    [/^EROFS/, READ_ONLY],
    [
      /^(?:SQLITE_(?:CANTOPEN|READONLY)|EACCES|EPERM)/,
      'give this user access to {} and its folder, or choose another file',
    ],
    [/^(?:ENOTDIR|EEXIST)/, 'choose another file: a part of the path {} is not a folder'],
    [/^SQLITE_IOERR/, 'free space on the disk of {}, or repair the disk'],
  ],
  postgres: [
    [
      /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY))/,
      'add sslrootcert=FILE to DATABASE_URL, where FILE has the CA certificate of PostgreSQL; ' +
        'if it is set, check that FILE',
    ],
    [
      /^(?:CERT_HAS_EXPIRED|ERR_TLS_CERT_ALTNAME)/,
      'renew the certificate of PostgreSQL, or use its host name in DATABASE_URL',
    ],
    [
      /^(?:ENOENT|EACCES|EISDIR): .*(?:open|read)/,
      'correct the path of the certificate or key in DATABASE_URL, or let this user read it',
    ],
    [/does not support SSL/, 'turn TLS on in PostgreSQL, or remove sslmode from DATABASE_URL'],
    [/^ECONNREFUSED/, 'start PostgreSQL, or correct host and port in DATABASE_URL'],
    [/not permitted to log in/, 'run ALTER ROLE ... LOGIN, or use another role in DATABASE_URL'],
    [
      /not currently accepting connections/,
      'run ALTER DATABASE ... ALLOW_CONNECTIONS true, or correct the name in DATABASE_URL',
    ],
    [/^28/, 'correct user and password in DATABASE_URL, or allow the user in pg_hba.conf'],
    [
      /^25006/,
      'point DATABASE_URL at the primary; on the primary, ' +
        'see why default_transaction_read_only is on (a full disk, for example)',
    ],
    [/^3D000/, 'create the database, or correct its name in DATABASE_URL'],
    [/^3F000/, 'grant the role in DATABASE_URL USAGE on the schema, or correct its search_path'],
    [/^42501/, 'grant the missing privilege to the role in DATABASE_URL: see docs/operating.md'],
    [/^42P07/, TABLE_EXISTS],
    [/^53100/, 'free space on the disk of PostgreSQL'],
    [/^53300/, 'raise the connection limit, or lower DATABASE_POOL_SIZE'],
    [
      /^(?:55P03|57014)/,
      'another session holds a lock (a migration, a backup, a long query); try again',
    ],
    [/clock of this machine$/, CLOCK_FIX],
    [/instead of UTF8$/, 'create one with: createdb --encoding=UTF8 --template=template0 NAME'],
    [
      /unsupported startup parameter/,
      "add statement_timeout and idle_in_transaction_session_timeout to PgBouncer's " +
        'ignore_startup_parameters (docs/scaling.md)',
    ],
    [
      /^(?:26000|42P05)/,
      'this pooler loses prepared statements: use its session mode, ' +
        'or PgBouncer 1.21 or later with max_prepared_statements (docs/scaling.md)',
    ],
    [
      /^(?:08|57P0[1-3]|ECONNRESET|EPIPE|Connection terminated(?! due)|Query read timeout)/,
      'the server in DATABASE_URL closed the connection or does not respond: ' +
        'try again, and see its log',
    ],
    [/^(?:ETIMEDOUT|E(?:HOST|NET)UNREACH|ENOTFOUND|EAI_|timeout|Connection terminated)/, CHECK_URL],
  ],
  redis: [
    [
      /NOPERM|o permission|can't run/i,
      'grant the rights that docs/operating.md lists to the user in REDIS_URL',
    ],
    [/WRONGPASS|NOAUTH|invalid password/i, 'correct the user or password in REDIS_URL'],
    [/wrong version|packet length|no TLS/i, 'use redis:// in REDIS_URL, or the TLS port of Redis'],
    [/self.signed|unable to (?:get|verify)/i, 'set NODE_EXTRA_CA_CERTS to the CA file of Redis'],
    [/has expired|altnames/, 'renew the certificate, or use its host name in REDIS_URL'],
    [/DB index/, 'use the number of a database of Redis (by default 0 to 15) in REDIS_URL'],
    [/MOVED|cluster mode/, 'add ?cluster=true to REDIS_URL: this is a Redis Cluster'],
    [
      /cluster support disabled/i,
      'Redis is not in cluster mode: remove ?cluster=true and further addresses from REDIS_URL',
    ],
    [/unknown command/i, 'point REDIS_URL at a Redis server, not a Sentinel'],
    [/LOADING/, 'wait until Redis has loaded its data'],
    [/OOM/, 'raise maxmemory of Redis'],
    [/READONLY|MASTERDOWN/, 'point REDIS_URL at the primary'],
    [/NOREPLICAS/, 'connect the replicas of Redis, or lower its min-replicas-to-write'],
    [/max number of clients/, 'raise maxclients of Redis'],
    [/^ReplyError/, 'Redis runs, but rejects a command: see its log'],
    [/^/, 'check REDIS_URL, and that Redis runs and can be reached from this machine'],
  ],
  port: [
    [
      /^TimeoutError/,
      'a program that does not respond uses this port, maybe this server: ' +
        'restart it, or choose a free port with {}PORT',
    ],
    [/^EADDRINUSE/, 'another program uses this port: choose a free one with {}PORT'],
    [/^EACCES/, 'choose a port above 1023 with {}PORT'],
    [/^(?:EADDRNOTAVAIL|ENOTFOUND|EAI_|EINVAL)/, 'choose an address of this machine with {}HOST'],
  ],
};

/** A failure with its cause and its fix, in one line. */
export class ExplainedError extends Error {
  constructor(
    readonly reason: string,
    readonly fix: string,
    cause?: unknown,
  ) {
    super(`${reason}; ${fix}`, { cause });
  }
}

/** @param subject see `FIXES` @returns undefined if the place does not explain the error */
export function fixOf(place: Place, error: unknown, subject = ''): string | undefined {
  const { code = '', message = '', name = '' } = Object(error) as Partial<NodeJS.ErrnoException>;
  const texts = [code, message, name];
  if (/^SQLITE_(?:CANTOPEN|READONLY)/.test(code) && isReadOnly(subject)) texts.push('EROFS');
  const [, fix] = FIXES[place].find(([cause]) => texts.some((text) => cause.test(text))) ?? [];
  return fix?.replaceAll('{}', subject);
}

function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** @param otherwise the fix if the place does not explain the error */
export function explainAt(
  place: Place,
  error: unknown,
  subject: string | undefined,
  otherwise: string,
): ExplainedError {
  if (error instanceof ExplainedError) return error;
  const { message } = error as Error;
  return new ExplainedError(message, fixOf(place, error, subject) ?? otherwise, error);
}

/** Runs `work`, whose only possible place of failure is `place`. @throws {ExplainedError} */
export async function explained<T>(
  place: Place,
  subject: string,
  work: () => T,
): Promise<Awaited<T>> {
  try {
    return await work();
  } catch (error) {
    throw fixOf(place, error) === undefined ? error : explainAt(place, error, subject, '');
  }
}
