import { AsyncLocalStorage } from 'node:async_hooks';
import { fstatSync, writeSync } from 'node:fs';
import { destination, type DestinationStream, pino } from 'pino';
import type { Config } from '../config/config.js';
import { VERSION } from '../config/version.js';
import type { Metrics } from './metrics.js';
import { prettyStream } from './pretty.js';
import type { Traced, Traces } from './traces.js';

/** What is told of a request that somebody works on: later rooms know more of it. */
export interface RequestUnderWay {
  readonly id: string;
  /** Of an operation: its pattern, and what its path said for that. */
  readonly routeOptions?: { readonly url?: string | undefined };
  readonly params?: unknown;
}

const current = new AsyncLocalStorage<RequestUnderWay>();

/** Whatever the work starts knows what request it is for. */
export function onBehalfOf<Result>(request: RequestUnderWay, work: () => Result): Result {
  return current.run(request, work);
}

/** Undefined for what no request has started, and within our own operations, which hand it on themselves. */
export function currentRequest(): RequestUnderWay | undefined {
  return current.getStore();
}

const SERVICE = 'pet-store-service';

/**
 * What the service logs through: a structured record first, then the sentence. What an operator may want
 * to be told of at once says so by its member `event`: `ban`, `audit`, `shed`.
 */
export abstract class Logger {
  abstract fatal(details: object, message: string): void;
  abstract error(details: object, message: string): void;
  abstract warn(details: object, message: string): void;
  abstract info(details: object, message: string): void;
  abstract debug(details: object, message: string): void;
  /** One line per answered request, at `info`. */
  abstract request(record: AnsweredRecord): void;
  /** Writes out what is still buffered. */
  abstract flush(): void;
}

/**
 * JSON lines, or readable ones for a terminal.
 * @param fd to write to: 1 is standard output
 */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'> & Partial<Pick<Config, 'tracing'>>,
  fd = 1,
): Promise<Logger> {
  const lines = new LineBuffer(fd);
  const stream = config.logFormat === 'pretty' ? await prettyStream(lines) : lines;
  const base = { service: SERVICE, version: VERSION };
  const traceAtHand = config.tracing ? await traceMixin() : undefined;
  const mixin = (): object => ({ ...requestAtHand(), ...traceAtHand?.() });
  const formatters = { level: (level: string) => ({ level }) };
  const logger = pino({ level: config.logLevel, base, formatters, mixin }, stream);
  const isDirect = config.logFormat === 'json' && logger.isLevelEnabled('info');
  const baseText = lineBase(base);
  return Object.assign(logger, {
    request: isDirect
      ? (record: AnsweredRecord) => void stream.write(requestLine(record, Date.now(), baseText))
      : (record: AnsweredRecord) => logger.info(record, 'request'),
  });
}

/** Lines of guests say for which request they are. */
function requestAtHand(): { requestId?: string } {
  const request = currentRequest();
  return request === undefined ? {} : { requestId: request.id };
}

/** What a line says of the request that is under way. */
async function traceMixin(): Promise<() => { traceId?: string }> {
  const { context, trace } = await import('@opentelemetry/api');
  return () => {
    const traceId = trace.getSpanContext(context.active())?.traceId;
    return traceId === undefined ? {} : { traceId };
  };
}

/** What is said of a request once it is answered. Keys are never part of it. */
export interface AnsweredRequest extends Traced {
  id: string;
  operation: string | undefined;
  method: string;
  url: string;
  /** `url` is left out where no route answers. */
  routeOptions: { url?: string | undefined };
  caller?: { keyId: string } | undefined;
  /** Where its key is no longer in force. */
  formerCaller?: { keyId: string } | undefined;
  refusal?: Omit<RefusedRequest, 'path'> | undefined;
}

/** Node reads some thirty methods: a caller must not make a series of each. */
const USUAL_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Upper bounds, in seconds; what is slower is in the total alone. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Asked every few seconds by whoever looks after the process. */
export function isProbe(url: string): boolean {
  return url.startsWith('/health/');
}

/** One line and one observation per answered request. */
export function accessLog(logger: Logger, metrics: Metrics, traces?: Traces) {
  const durations = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer, by operation, method and status.',
    labelNames: ['operation', 'method', 'status'],
    buckets: BOUNDS,
  });
  return (request: AnsweredRequest, status: number, elapsedMs: number): void => {
    const { operation = 'unknown', method } = request;
    const usual = USUAL_METHODS.has(method) ? method : 'other';
    durations.observe({ operation, method: usual, status }, elapsedMs / 1000);
    const { refusal } = request;
    const record = {
      requestId: request.id,
      traceId: traces?.traceIdOf(request),
      keyId: (request.caller ?? request.formerCaller)?.keyId,
      operation,
      method,
      status,
      durationMs: Math.round(elapsedMs * 100) / 100,
      path: refusal && (request.routeOptions.url ?? 'none'),
      code: refusal?.code,
      address: refusal?.address,
    };
    if (refusal === undefined && isProbe(request.url)) {
      logger.debug(record, 'request');
    } else {
      logger.request(record);
    }
  };
}

/** What is said of a request once it is answered. Keys are never part of it. */
export interface RequestRecord {
  /** Free of characters that JSON escapes. */
  requestId: string;
  /** As `requestId`; undefined where nothing is traced. */
  traceId?: string | undefined;
  /** As `requestId`. */
  keyId: string | undefined;
  operation: string;
  method: string;
  status: number;
  durationMs: number;
}

/** What is said besides of a request that was refused, to find out why. */
export interface RefusedRequest {
  /** As the router knows it: what a caller asks for may hold what nobody should read. */
  path: string;
  /** Of the error body. */
  code: string;
  /** The client's; of an IPv6 address its /64. */
  address: string;
}

/** Of a request that may have been refused: else undefined, each. */
export type AnsweredRecord = RequestRecord & {
  [Member in keyof RefusedRequest]?: RefusedRequest[Member] | undefined;
};

/** What every line says of the process that wrote it: members of JSON, with a comma behind. */
export function lineBase(base: Record<string, string | number>): string {
  return `${JSON.stringify(base).slice(1, -1)},`;
}

/** The line that pino would make of it, without looking at what cannot be otherwise. */
export function requestLine(record: AnsweredRecord, nowMs: number, base: string): string {
  const { requestId, traceId, keyId, operation, method, status, durationMs, code } = record;
  const caller = keyId === undefined ? '' : `"keyId":"${keyId}",`;
  const traced = traceId === undefined ? '' : `"traceId":"${traceId}",`;
  const refused = code === undefined ? '' : refusalOf(record);
  return (
    `{"level":"info","time":${nowMs},${base}"requestId":"${requestId}",${traced}${caller}` +
    `"operation":${JSON.stringify(operation)},"method":"${method}","status":${status},` +
    `"durationMs":${durationMs},${refused}"msg":"request"}\n`
  );
}

function refusalOf({ path, code, address }: AnsweredRecord): string {
  return `${JSON.stringify({ path, code, address }).slice(1, -1)},`;
}

const CHUNK_BYTES = 16_384;
const MAX_BYTES_PER_UNIT = 3;
const FLUSH_INTERVAL_MS = 200;
/** Of a disk that is full, or a reader that stands still. What comes then is dropped. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;
/** Of a reader that stands still, no more is waited for when the process ends. */
const FAREWELL_MS = 200;

/** What pino's types leave out of its destination. */
const BYTES = { contentMode: 'buffer' };
interface ByteDestination {
  readonly destroyed: boolean;
  write(bytes: Buffer): boolean;
  on(event: 'error' | 'write', listener: () => void): void;
  flushSync(): void;
  destroy(): void;
}

/**
 * Gathers log lines for a moment, as bytes: a write call per line costs more than the line, and so does
 * measuring a growing string with every line, which is how pino's own destination gathers.
 */
export class LineBuffer implements DestinationStream {
  private readonly destination: ByteDestination;
  private chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  private used = 0;
  private isFailing = false;
  private triesUntilMs = Infinity;

  /** @param fd a file descriptor that is open for writing */
  constructor(private readonly fd: number) {
    // A file takes a chunk sooner than another thread could be woken for it; a pipe may make us wait.
    const sync = fstatSync(fd).isFile();
    this.destination = destination({
      fd,
      sync,
      maxWrite: CHUNK_BYTES,
      maxLength: MAX_UNWRITTEN_BYTES,
      retryEAGAIN: () => performance.now() < this.triesUntilMs,
      ...BYTES,
    }) as unknown as ByteDestination;
    // Whoever cannot log goes on serving.
    this.destination.on('error', () => (this.isFailing = true));
    this.destination.on('write', () => (this.isFailing = false));
    setInterval(() => this.flush(), FLUSH_INTERVAL_MS).unref();
    // Before pino, which would wait for ever.
    if (buffers.push(this) === 1) process.prependListener('exit', writeOut);
  }

  write(line: string): void {
    const atMost = line.length * MAX_BYTES_PER_UNIT;
    if (atMost > CHUNK_BYTES - this.used) this.flush();
    if (atMost > CHUNK_BYTES) this.destination.write(Buffer.from(line));
    else this.used += this.chunk.write(line, this.used);
  }

  /** Passes on what is gathered; it is written without anyone waiting for it. */
  flush(): void {
    if (this.used === 0) return;
    const lines = this.chunk.subarray(0, this.used);
    if (this.used < CHUNK_BYTES / 2) {
      // While it waits for a reader, it would hold all of the chunk.
      this.destination.write(Buffer.from(lines));
    } else {
      this.destination.write(lines);
      this.chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    }
    this.used = 0;
  }

  /** As pino asks for behind a `fatal`: the process may go on, and so does its log. */
  flushSync(): void {
    if (this.isFailing || this.destination.destroyed) return;
    this.triesUntilMs = performance.now() + FAREWELL_MS;
    try {
      this.flush();
      this.destination.flushSync();
    } catch {
      // It stays in line, for when there is a reader, or room.
    } finally {
      this.triesUntilMs = Infinity;
    }
  }

  /** Writes what is left before the process ends, in whatever state it is. */
  end(): void {
    this.triesUntilMs = performance.now() + FAREWELL_MS;
    try {
      // pino closes its destination once the event loop is empty.
      if (this.destination.destroyed) {
        writeSync(this.fd, this.chunk.subarray(0, this.used));
        this.used = 0;
        return;
      }
      this.flush();
      // It would try for ever.
      if (this.isFailing) this.destination.destroy();
      else this.destination.flushSync();
    } catch {
      // Nobody reads the log any more, or there is no room for it: pino is not to try again.
      this.destination.destroy();
    }
  }
}

const buffers: LineBuffer[] = [];

function writeOut(): void {
  for (const buffer of buffers) buffer.end();
}
