/** Classes of SQLSTATE (PostgreSQL, appendix A) and codes of SQLite and Node that pass by themselves. */
const SQLSTATE_OUTAGE = /^(?:08|53|57P0|57014|25006|40|55P03|58)/;
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

/** Another process holds the lock that this one waits for. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith('SQLITE_BUSY') ?? false;
}

/** Whether the database, and not the service or its caller, is why a statement failed. */
export function isOutage(error: unknown): boolean {
  const driverError = (error as { driverError?: unknown } | null)?.driverError;
  if (driverError !== undefined && driverError !== error) return isOutage(driverError);
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code === undefined) return DRIVER_OUTAGE.test(error.message);
  return NETWORK_OUTAGE.has(code) || SQLITE_OUTAGE.test(code) || isTransientSqlState(code);
}

function isTransientSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code) && SQLSTATE_OUTAGE.test(code);
}

function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}
