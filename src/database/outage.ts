/** Classes of SQLSTATE (PostgreSQL, appendix A) and codes of SQLite and Node that pass by themselves. */
const SQLSTATE_OUTAGE = /^(?:(?:08|40|53|58)...|57P0.|57014|25006|55P03)$/;
const SQLITE_OUTAGE = /^SQLITE_(?:BUSY|LOCKED|IOERR|FULL|READONLY|CANTOPEN|PROTOCOL|NOMEM)/;
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

interface DriverError {
  code?: unknown;
  message?: unknown;
  /** Of an error that TypeORM has wrapped. */
  driverError?: DriverError;
}

/** Another process holds the lock that this one waits for. */
export function isBusy(error: unknown): boolean {
  return String(toDriverError(error).code).startsWith('SQLITE_BUSY');
}

/** Whether the database, and not the service or its caller, is why a statement failed. */
export function isOutage(error: unknown): boolean {
  const { code, message } = toDriverError(error);
  if (typeof code !== 'string') return DRIVER_OUTAGE.test(String(message));
  return NETWORK_OUTAGE.has(code) || SQLITE_OUTAGE.test(code) || SQLSTATE_OUTAGE.test(code);
}

function toDriverError(error: unknown): DriverError {
  const own = (error ?? {}) as DriverError;
  return own.driverError ?? own;
}
