import type { Metrics } from './metrics.js';
import type { Traced, Traces } from './traces.js';

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

/** Where lines of requests go. */
interface RequestLog {
  debug(details: object, message: string): void;
  request(record: AnsweredRecord): void;
}

/** One line and one observation per answered request. */
export function accessLog(logger: RequestLog, metrics: Metrics, traces?: Traces) {
  const durations = metrics.histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the answer, by operation, method and status.',
    labels: ['operation', 'method', 'status'],
    buckets: BOUNDS,
  });
  return (request: AnsweredRequest, status: number, elapsedMs: number): void => {
    const { operation = 'unknown', method } = request;
    const usual = USUAL_METHODS.has(method) ? method : 'other';
    durations.of(operation, usual, status).observe(elapsedMs / 1000);
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
