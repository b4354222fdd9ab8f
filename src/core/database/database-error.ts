import { TimeoutError } from '../time/timeout.js';

interface DriverError {
  code?: unknown;
  message?: unknown;
  /** Of PostgreSQL, for a violated constraint. */
  table?: string;
  detail?: string;
  /** The error that TypeORM wraps. */
  driverError?: DriverError;
}

/**
 * Transient and repairable failures: codes of PostgreSQL (appendix A) and SQLite, and messages of
 * node-postgres.
 */
const isOfDatabase = matches(
  /^(?:(?:08|28|40|53|58)...|3D000|42501|57P0.|57014|25006|25P03|55P03)$/,
  /^SQLITE_(?:BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|NOMEM|CORRUPT|NOTADB)/,
  /^(?:Connection terminated|Query read timeout|timeout exceeded when trying to connect)/,
  /^(?:Client has encountered a connection error|Cannot use a pool after calling end)/,
);

/** Codes of the operating system and of TLS, such as ECONNREFUSED. */
const isOfNetwork = matches(/^(?!SQLITE_|ERR_)[A-Z_]+$/);

/** Whether an SQLite file is damaged, or no database. */
export const isDamaged = matches(/^SQLITE_(?:CORRUPT|NOTADB)/);

/** Whether another process holds the lock of an SQLite database. */
export const isBusy = matches(/^SQLITE_BUSY/);

/** Whether a lock of PostgreSQL was not free within the lock timeout. */
export const isHeld = matches(/^55P03$/);

/**
 * Whether PostgreSQL changed nothing: the prepared statement is gone or outdated, or another
 * transaction came first.
 */
export const hasChangedNothing = matches(/^(?:0A000|26000|42P05|40001|40P01)$/);

/** Whether the connection broke while a statement was running on it. */
export const isConnectionLost = matches(
  /^(?:08...|57P01|ECONNRESET|EPIPE|Connection terminated.*|Client has.*)$/,
);

/** Whether PostgreSQL did not respond in time. The statement may still be running. */
export const isReadTimeout = matches(/^Query read timeout$/);

/** Whether a text contains U+0000, which PostgreSQL cannot store. */
export const isUnstorable = matches(/^22(?:021|P05)$/);

/** Whether a value that must be unique exists already. */
export const isTaken = matches(/^23505$/, /^SQLITE_CONSTRAINT_(?:UNIQUE|PRIMARYKEY)$/);

/** Whether PostgreSQL rejected the values of a statement: classes 22 and 23. */
export const isDataError = matches(/^2[23]...$/);

/**
 * Whether an error of the database is an outage: a 503, and not a fault of the service. An error of
 * the network counts only if TypeORM has wrapped it; otherwise it may come from an unrelated
 * connection.
 */
export function isOutage(error: unknown): boolean {
  const isWrapped = driverErrorOf(error) !== error;
  return isOfDatabase(error) || error instanceof TimeoutError || (isWrapped && isOfNetwork(error));
}

/** Tests the code of an error, or its message if it has no code. */
function matches(...patterns: RegExp[]): (error: unknown) => boolean {
  return (error) => {
    const { code, message } = driverErrorOf(error);
    return patterns.some((pattern) => pattern.test(String(code ?? message)));
  };
}

/** The driver's or system's error inside TypeORM's. */
export function driverErrorOf(error: unknown): DriverError {
  const own = (error ?? {}) as DriverError;
  return own.driverError ?? own;
}

/** @param code of SQLite or PostgreSQL */
export function databaseError(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}
