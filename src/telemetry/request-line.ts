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
