/** SQLSTATE codes (PostgreSQL, appendix A) of failures that pass by themselves. */
const POSTGRES_OUTAGE = /^(?:(?:08|28|40|53|58)...|3D000|57P0.|57014|25006|25P03|55P03)$/;
const SQLITE_OUTAGE =
  /^SQLITE_(?:BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|NOMEM|CORRUPT|NOTADB)/;
const NETWORK_OUTAGE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** Errors of node-postgres without a code. */
const DRIVER_OUTAGE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

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
  readonly code: unknown;

  constructor(cause: unknown) {
    const driverError = driverErrorOf(cause);
    super(String(driverError.message), { cause });
    this.driverError = driverError;
    this.code = driverError.code;
  }
}

/** Whether another process holds the lock of an SQLite database. */
export function isBusy(error: unknown): boolean {
  return String(driverErrorOf(error).code).startsWith('SQLITE_BUSY');
}

/** Whether a lock of PostgreSQL was not free within the lock timeout. */
export function isHeld(error: unknown): boolean {
  return driverErrorOf(error).code === '55P03';
}

/** Whether a prepared statement is gone or no longer fits the schema. Nothing was executed. */
export function isStale(error: unknown): boolean {
  return ['0A000', '26000'].includes(String(driverErrorOf(error).code));
}

/** Whether the connection broke while a statement was running on it. */
export function isConnectionLost(error: unknown): boolean {
  const { code, message } = driverErrorOf(error);
  if (typeof code !== 'string')
    return /^(?:Connection terminated|Client has)/.test(String(message));
  return /^(?:08...|57P01|ECONNRESET|EPIPE)$/.test(code);
}

/** Whether PostgreSQL rolled the statement back in favour of another transaction. */
export function isConflict(error: unknown): boolean {
  return ['40001', '40P01'].includes(String(driverErrorOf(error).code));
}

/** Whether a row with the same unique key exists. */
export function isDuplicate(error: unknown): boolean {
  const { code } = driverErrorOf(error);
  return code === '23505' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

/** Whether there is no table or schema of that name. */
export function isMissing(error: unknown): boolean {
  return ['42P01', '3F000'].includes(String(driverErrorOf(error).code));
}

/** Whether an error of the database is an outage: a 503, and not a fault of the service. */
export function isOutage(error: unknown): boolean {
  if (error instanceof OutageError) return true;
  const driverError = driverErrorOf(error);
  const { code, message } = driverError;
  if (typeof code !== 'string') return DRIVER_OUTAGE.test(String(message));
  return isOfNetwork(driverError) || SQLITE_OUTAGE.test(code) || POSTGRES_OUTAGE.test(code);
}

/** `isOutage()` of an error that may come from a connection of an extension. */
export function isDatabaseOutage(error: unknown): boolean {
  const driverError = driverErrorOf(error);
  return isOutage(error) && (driverError !== error || !isOfNetwork(driverError));
}

/** A socket of the file system is gone together with its server. */
function isOfNetwork({ code, syscall }: DriverError): boolean {
  return NETWORK_OUTAGE.has(String(code)) || syscall === 'connect';
}

/** The error of the engine or of the system, within that of TypeORM or an `OutageError`. */
export function driverErrorOf(error: unknown): DriverError {
  const own = (error ?? {}) as DriverError;
  return own.driverError ?? own;
}
