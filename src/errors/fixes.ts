/**
 * Something that the service needs cannot be used. `reason` has its address and the cause, `fix`
 * tells an operator what to do.
 */
export class UnusableError extends Error {
  constructor(
    readonly reason: string,
    readonly fix: string,
    cause?: unknown,
  ) {
    super(`${reason}; ${fix}`, { cause });
    // The stack of whichever request hit it is misleading.
    delete this.stack;
  }
}

type Fix = readonly [cause: RegExp, fix: string];

const CHECK_REDIS = 'check REDIS_URL, and that Redis runs and can be reached from this machine';
const RESTORE =
  'set DATABASE_URL to another file; or stop the server, copy the damaged file, ' +
  'and run petstore restore BACKUP';

/**
 * What an operator can do, by what failed and by the code or the message of its error; the first
 * that matches. Each fix is safe: none destroys data that may still be good.
 */
const FIXES = {
  /** Errors of PostgreSQL, of Node or of the driver. */
  postgres: [
    [
      /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY))/,
      'add sslrootcert=FILE to DATABASE_URL, where FILE has the CA certificate of PostgreSQL',
    ],
    [/does not support SSL/, 'turn TLS on in PostgreSQL, or remove sslmode from DATABASE_URL'],
    [/^ECONNREFUSED/, 'start PostgreSQL, or correct host and port in DATABASE_URL'],
    [/^28/, 'correct user and password in DATABASE_URL, or allow the user in pg_hba.conf'],
    [/^3D000/, 'create the database, or correct its name in DATABASE_URL'],
    [/^53300/, 'raise the connection limit, or lower DATABASE_POOL_SIZE'],
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
    [/^/, 'check DATABASE_URL, and that PostgreSQL runs and can be reached from this machine'],
  ],
  /** Messages of Redis, ioredis and OpenSSL. */
  redis: [
    [
      /NOPERM|o permission/i,
      'grant the rights that docs/operating.md lists to the user in REDIS_URL',
    ],
    [/WRONGPASS|NOAUTH|invalid password/i, 'correct the user or password in REDIS_URL'],
    [/wrong version|packet length|no TLS/i, 'use redis:// in REDIS_URL, or the TLS port of Redis'],
    [/self.signed|unable to (?:get|verify)/i, 'set NODE_EXTRA_CA_CERTS to the CA file of Redis'],
    [/has expired|altnames/, 'renew the certificate, or use its host name in REDIS_URL'],
    [/MOVED/, 'add ?cluster=true to REDIS_URL: this is a Redis Cluster'],
    [/cluster support disabled/i, 'specify one address in REDIS_URL: Redis is not in cluster mode'],
    [/unknown command/i, 'point REDIS_URL at a Redis server, not a Sentinel'],
    [/LOADING/, 'wait until Redis has loaded its data'],
    [/OOM/, 'raise maxmemory of Redis'],
    [/READONLY/, 'point REDIS_URL at the primary, not a replica'],
    [/^/, CHECK_REDIS],
  ],
  /** Any other error that ends a start or a command. The message has the address in question. */
  start: [
    [
      /^ERR_DLOPEN_FAILED$|^Could not locate the bindings file/,
      'allow its install script (npm install-scripts approve better-sqlite3, ' +
        'npx --allow-scripts=better-sqlite3, pnpm approve-builds), ' +
        'run npm rebuild better-sqlite3 with this Node.js, ' +
        'or set DATABASE_URL to a postgres:// URL',
    ],
    [
      /^42501$/,
      'grant the missing privilege to the role in DATABASE_URL, or use a role that has it',
    ],
    [
      /^55P03$/,
      'a migration, a backup or a long query of another session holds a lock; try again afterwards',
    ],
    [/^EACCES$/, 'choose a port above 1023 (PORT, ADMIN_PORT)'],
    [/^EADDRINUSE$/, 'another program uses this port; choose a free one (PORT, ADMIN_PORT)'],
    [/^EADDRNOTAVAIL$/, 'choose an address of this machine (HOST, ADMIN_HOST)'],
    [/^ENOTFOUND$/, 'correct this host name (HOST, ADMIN_HOST, or a setting of an extension)'],
    [/^(?:ENOSPC|SQLITE_FULL)/, 'free disk space'],
    [/^SQLITE_BUSY/, 'another process locks the database; try again'],
    [/^SQLITE_IOERR/, 'free disk space, or repair the disk'],
    [/^SQLITE_(?:NOTADB|CORRUPT)/, RESTORE],
  ],
} satisfies Record<string, readonly Fix[]>;

/** @returns undefined if no fix is known */
export function fixOf(what: keyof typeof FIXES, ...causes: string[]): string | undefined {
  const fixes: readonly Fix[] = FIXES[what];
  return fixes.find(([pattern]) => causes.some((cause) => pattern.test(cause)))?.[1];
}
