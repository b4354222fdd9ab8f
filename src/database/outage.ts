/** Classes of SQLSTATE (PostgreSQL, appendix A) and codes of SQLite and Node that pass by themselves. */
const SQLSTATE_OUTAGE = /^(?:(?:08|40|53|58)...|57P0.|57014|25006|55P03)$/;
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
/** What node-postgres says without a code. */
const DRIVER_OUTAGE =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/** No connection is made: it broke, its user is refused, there is no such database, none is free, not now. */
const SQLSTATE_CONNECTION = /^(?:08...|28...|3D000|53300|57P0.)$/;

/** There is no such table, or no schema that it could be in. */
const SQLSTATE_MISSING = /^(?:42P01|3F000)$/;

interface DriverError {
  code?: unknown;
  message?: unknown;
  /** Of an error of the system. */
  syscall?: unknown;
  /** Of an error that TypeORM has wrapped. */
  driverError?: DriverError;
}

/** Another process holds the lock that this one waits for. */
export function isBusy(error: unknown): boolean {
  return String(toDriverError(error).code).startsWith('SQLITE_BUSY');
}

/** A lock was not to be had in the time that was given for it. */
export function isHeld(error: unknown): boolean {
  return toDriverError(error).code === '55P03';
}

/**
 * What was prepared on a connection is no longer there, or no longer fits: the schema was changed, or the
 * statement that others were to use could not be prepared.
 */
export function isStale(error: unknown): boolean {
  const { code } = toDriverError(error);
  return code === '0A000' || code === '26000';
}

/** Whether the database, and not the service or its caller, is why a statement failed. */
export function isOutage(error: unknown): boolean {
  const { code, message, syscall } = toDriverError(error);
  if (typeof code !== 'string') return DRIVER_OUTAGE.test(String(message));
  if (isOfNetwork({ code, syscall }) || isOfAnotherDatabase(error)) return true;
  return [SQLITE_OUTAGE, SQLSTATE_OUTAGE, SQLSTATE_CONNECTION].some((codes) => codes.test(code));
}

/** A statement took too long, or others were in its way: nobody notices but who asked. */
const SQLSTATE_OF_ONE = /^(?:40...|57014|55P03)$/;

/** Whether the whole database is the matter, which its watch and readiness tell of. */
export function isOfAll(error: unknown): boolean {
  return isDatabaseOutage(error) && !SQLSTATE_OF_ONE.test(String(toDriverError(error).code));
}

const ofConnections = new WeakSet<object>();

/** Notes an error of a connection to the database: those of a guest's other connections look the same. */
export function noteOfConnection(error: unknown): void {
  if (typeof error === 'object' && error !== null) ofConnections.add(error);
}

const ofOurs = new WeakSet<object>();

/** Notes what one of our own statements met: where it misses a table, it has met another database under that name. */
export function noteOfOurs(error: unknown): void {
  if (typeof error === 'object' && error !== null) ofOurs.add(error);
}

/** As after a failover to a replica that is empty yet: guests may have misspelt a table of theirs. */
function isOfAnotherDatabase(error: unknown): boolean {
  const driverError = toDriverError(error);
  return SQLSTATE_MISSING.test(String(driverError.code)) && ofOurs.has(driverError);
}

/** As `isOutage`, of an error that may be of anything else, too. */
export function isDatabaseOutage(error: unknown): boolean {
  const driverError = toDriverError(error);
  const isKnown = driverError !== error || ofConnections.has(driverError);
  return isOutage(error) && (isKnown || !isOfNetwork(driverError));
}

function isOfNetwork({ code, syscall }: DriverError): boolean {
  // A socket of the file system is gone with its server.
  return NETWORK_OUTAGE.has(code as string) || syscall === 'connect';
}

/** Why there is no connection to the database, in a few words; undefined where that is not what failed. */
export function connectionFailure(error: unknown): string | undefined {
  const { code, message } = toDriverError(error);
  if (typeof code !== 'string') return DRIVER_OUTAGE.exec(String(message))?.input;
  if (NETWORK_OUTAGE.has(code)) return code;
  return SQLSTATE_CONNECTION.test(code) ? String(message) : undefined;
}

function toDriverError(error: unknown): DriverError {
  const own = (error ?? {}) as DriverError;
  return own.driverError ?? own;
}
