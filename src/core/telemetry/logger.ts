import { destination, type DestinationStream, pino } from 'pino';
import type { Config } from '../config/config.js';
import { VERSION } from '../config/version.js';
import { requestContext } from './request-context.js';

/**
 * The logger of the service: structured details, then the message. Lines that an operator may want
 * to be alerted to have a member `event`: `ban`, `audit`, `shed`, `insecure`.
 */
export abstract class Logger {
  abstract fatal(details: object, message: string): void;
  abstract error(details: object, message: string): void;
  abstract warn(details: object, message: string): void;
  abstract info(details: object, message: string): void;
  abstract debug(details: object, message: string): void;
  /** Starts writing the lines that are still buffered. */
  abstract flush(): void;
}

/** pino's recommendation: more would make each line copy a longer buffer. */
const MIN_WRITE_BYTES = 4_096;
const FLUSH_INTERVAL_MS = 200;
/** Lines beyond this are dropped. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;

const MESSAGE = [
  '{msg}',
  '{if method}: {method} {operation} {status} in {durationMs} ms{end}',
  '{if path} {path}{end}',
  '{if code} {code}{end}',
  '{if keyId} {keyId}{end}',
  '{if address} {address}{end}',
  '{if requestId} [{requestId}]{end}',
].join('');
/** Members that the message contains, or that a reader at a terminal does not need. */
const HIDDEN =
  'service,version,method,operation,status,durationMs,path,code,' +
  'keyId,address,requestId,event,audit';
const MAX_CAUSES = 5;
/** Members of this depth are left out, so that an object may contain itself. */
const MAX_DEPTH = 5;
/** Data exceptions of PostgreSQL, whose messages quote the value (appendix A, class 22). */
const VALUE_CODE = /^22...$/;
/** `JSON.parse()` quotes the text. */
const VALUE_MESSAGE = / is not valid JSON$/;
/** Members that have an error, even if it is no instance of `Error`. */
const ERRORS = ['err', 'error'];

/**
 * Writes JSON lines, or readable ones for a terminal.
 * @param fd file descriptor; 1 is standard output
 */
export async function createLogger(
  { logLevel, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>,
  fd = 1,
): Promise<Logger> {
  const stream = logFormat === 'pretty' ? await prettyLines(fd) : bufferedStream(fd);
  const logger: Logger = pino(
    {
      level: logLevel,
      base: { service: 'pet-store-service', version: VERSION },
      formatters: { level: (level) => ({ level }), log: serializeMembers },
      // The serializer of pino would write all members of an error.
      serializers: { err: (error: unknown) => error },
      mixin: requestMembers,
      // The access log specifies its request: an extra object per line costs 30 % of a get.
      mixinMergeStrategy: (line, members) =>
        members === NO_MEMBERS || 'requestId' in line ? line : { ...members, ...line },
    },
    stream,
  );
  return logger;
}

const NO_MEMBERS = {};

/** On each line that is written within a request. */
function requestMembers(): object {
  const request = requestContext.getStore();
  return request === undefined ? NO_MEMBERS : { requestId: request.id, traceId: request.traceId };
}

/**
 * The members of an error that are logged. Other members may hold a secret: HTTP clients keep the
 * request there, with the bearer token of a third party.
 */
function serializeError(error: unknown, depth = 0): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const { name, message, code, stack, cause } = error as NodeJS.ErrnoException;
  const hasValue = VALUE_CODE.test(String(code)) || VALUE_MESSAGE.test(message);
  const logged = hasValue ? String(message).replace(/".*"/s, '"..."') : message;
  return {
    type: name,
    message: logged,
    code,
    stack: hasValue ? stack?.replace(message, () => logged) : stack,
    cause: depth < MAX_CAUSES ? serializeError(cause, depth + 1) : undefined,
  };
}

/** Lines without an object, such as those of the access log, are not copied. */
function serializeMembers(line: Record<string, unknown>): Record<string, unknown> {
  const hasObject = Object.values(line).some((value) => typeof value === 'object');
  return hasObject ? serializeDetails(line) : line;
}

/** Serializes the errors in an object or array, at every depth. */
function serializeDetails<Details extends object>(details: Details, depth = 0): Details {
  const members = Object.entries(details).map(([name, value]: [string, unknown]) => {
    if (typeof value !== 'object' || value === null) return [name, value];
    if (value instanceof Error || ERRORS.includes(name)) return [name, serializeError(value)];
    if ('toJSON' in value) return [name, value];
    return [name, depth < MAX_DEPTH ? serializeDetails(value, depth + 1) : undefined];
  });
  const copy = Object.fromEntries(members) as object;
  return (Array.isArray(details) ? Object.values(copy) : copy) as Details;
}

/** Buffers lines, and drops lines while they cannot be written. */
function bufferedStream(fd: number): DestinationStream {
  const stream = destination({
    fd,
    sync: false,
    minLength: MIN_WRITE_BYTES,
    maxLength: MAX_BUFFERED_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    // A full pipe is retried with the next flush. Another timer would delay the process's exit.
    retryEAGAIN: () => false,
  });
  let isFailing = false;
  stream.on('error', () => (isFailing = true));
  stream.on('write', () => (isFailing = false));
  const flushSync = stream.flushSync.bind(stream);
  // pino calls it at the exit of the process, and would retry forever on a full disk. There is no
  // option. `logger.spec.ts` fails without it.
  // eslint-disable-next-line no-restricted-syntax -- see above
  stream.flushSync = () => {
    try {
      if (!isFailing) flushSync();
    } catch {
      // The pipe has just become full.
    }
  };
  return stream;
}

/** Loads pino-pretty on demand: production does not use it. */
async function prettyLines(fd: number): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: fd,
    translateTime: 'HH:MM:ss.l',
    messageFormat: MESSAGE,
    ignore: HIDDEN,
    singleLine: true,
  });
}
