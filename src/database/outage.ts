import { TimeoutError } from '../time/timeout.js';

/** SQLSTATE codes (PostgreSQL, appendix A) of failures that pass by themselves. */
const POSTGRES_OUTAGE = /^(?:(?:08|28|40|53|58)...|3D000|57P0.|57014|25006|25P03|55P03)$/;
const SQLITE_OUTAGE =
  /^SQLITE_(?:BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|NOMEM|CORRUPT|NOTADB)/;
/** Errors of node-postgres, which have no code. */
const DRIVER_OUTAGE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;
const NETWORK_OUTAGE =
  /^(?:ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

interface DriverError {
  code?: unknown;
  message?: unknown;
  /** Set on errors of the operating system. */
  syscall?: unknown;
  /** The error that TypeORM, or an `OutageError`, wraps. */
  driverError?: DriverError;
}

/** The database is not usable, whatever its own error says. */
export class OutageError extends Error {
  readonly driverError: DriverError;

  constructor(cause: unknown) {
    const driverError = driverErrorOf(cause);
    super(String(driverError.message), { cause });
    this.driverError = driverError;
  }
}

/** Whether another process holds the lock of an SQLite database. */
export const isBusy = matches(/^SQLITE_BUSY/);

/** Whether a lock of PostgreSQL was not free within the lock timeout. */
export const isHeld = matches(/^55P03$/);

/** Whether a prepared statement is gone, is that of another client, or no longer fits the schema. Nothing was executed. */
export const isStale = matches(/^(?:0A000|26000|42P05)$/);

/** Whether the connection broke while a statement was running on it. */
export const isConnectionLost = matches(
  /^(?:08...|57P01|ECONNRESET|EPIPE|Connection terminated.*|Client has.*)$/,
);

/** Whether PostgreSQL rolled the statement back in favour of another transaction. */
export const isConflict = matches(/^(?:40001|40P01)$/);

/** Whether a row with the same unique key exists. */
export const isDuplicate = matches(/^(?:23505|SQLITE_CONSTRAINT_PRIMARYKEY)$/);

/** Whether there is no table or schema of that name. */
export function isMissing(error: unknown): boolean {
  return isMissingInPostgres(error) || /^no such table/.test(String(driverErrorOf(error).message));
}
const isMissingInPostgres = matches(/^(?:42P01|3F000)$/);

/**
 * Whether an error of the database is an outage: a 503, and not a fault of the service. An error of the network counts
 * if TypeORM or the `Database` port has thrown it; without their wrapping, it may be of any other connection.
 */
export function isOutage(error: unknown): boolean {
  const driverError = driverErrorOf(error);
  const { code, syscall } = driverError;
  // A socket of the file system is gone together with its server.
  const isOfNetwork = NETWORK_OUTAGE.test(String(code)) || syscall === 'connect';
  const isCertain = error instanceof OutageError || error instanceof TimeoutError;
  return isCertain || isOfEngine(error) || (driverError !== error && isOfNetwork);
}
const isOfEngine = matches(POSTGRES_OUTAGE, SQLITE_OUTAGE, DRIVER_OUTAGE);

/** Tests the code of an error, or its message if it has no code. */
function matches(...patterns: RegExp[]): (error: unknown) => boolean {
  return (error) => {
    const { code, message } = driverErrorOf(error);
    return patterns.some((pattern) => pattern.test(String(code ?? message)));
  };
}

/** The error of the engine or of the system, within that of TypeORM or an `OutageError`. */
export function driverErrorOf(error: unknown): DriverError {
  const own = (error ?? {}) as DriverError;
  return own.driverError ?? own;
}
