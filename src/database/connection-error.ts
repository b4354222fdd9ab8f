import { driverErrorOf } from './outage.js';

/** A connection that failed: `reason` has host, port and cause. */
export class DatabaseConnectionError extends Error {
  constructor(
    readonly reason: string,
    readonly fix: string,
    cause?: unknown,
  ) {
    super(`${reason}; ${fix}`, { cause });
  }
}

/** By the code or the message of an error of PostgreSQL, of Node or of the driver. */
const FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(?:GET|VERIFY))/,
    'add sslrootcert=FILE to DATABASE_URL, with the certificate of the CA that signed that of the server',
  ],
  [/does not support SSL/, 'turn TLS on in PostgreSQL, or remove sslmode from DATABASE_URL'],
  [/^ECONNREFUSED/, 'start PostgreSQL, or correct host and port in DATABASE_URL'],
  [/^28/, 'correct user and password in DATABASE_URL, or allow the user in pg_hba.conf'],
  [/^3D000/, 'create the database, or correct its name in DATABASE_URL'],
  [/^53300/, 'raise the connection limit, or lower DATABASE_POOL_SIZE'],
  [
    /unsupported startup parameter/,
    'add statement_timeout, idle_in_transaction_session_timeout and lock_timeout to ignore_startup_parameters of PgBouncer (docs/scaling.md)',
  ],
];
const OTHER = 'check that PostgreSQL runs and can be reached from this machine, and DATABASE_URL';

/** Explains why PostgreSQL at `url` could not be used. */
export function toConnectionError(error: unknown, url: string): DatabaseConnectionError {
  if (error instanceof DatabaseConnectionError) return error;
  // An AggregateError, of several addresses of one name, has no message.
  const { code = '', message = '' } = driverErrorOf(error) as { code?: string; message?: string };
  const [, fix = OTHER] =
    FIXES.find(([pattern]) => pattern.test(code) || pattern.test(message)) ?? [];
  return new DatabaseConnectionError(
    `PostgreSQL at ${addressOf(url)} cannot be used: ${message || code}`,
    fix,
    error,
  );
}

export function addressOf(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  return searchParams.get('host') ?? `${hostname || 'localhost'}:${port || 5432}`;
}
