/** What is said of a request once it is answered. Keys are never part of it. */
export interface RequestRecord {
  /** Free of characters that JSON escapes. */
  requestId: string;
  /** As `requestId`. */
  keyId: string | undefined;
  operation: string;
  method: string;
  status: number;
  durationMs: number;
}

const INFO = 30;

/** The line that pino would make of it, without looking at what cannot be otherwise. */
export function requestLine(record: RequestRecord, nowMs: number, worker?: number): string {
  const { requestId, keyId, operation, method, status, durationMs } = record;
  const process = worker === undefined ? '' : `"worker":${worker},`;
  const caller = keyId === undefined ? '' : `"keyId":"${keyId}",`;
  return (
    `{"level":${INFO},"time":${nowMs},${process}"requestId":"${requestId}",${caller}` +
    `"operation":${JSON.stringify(operation)},"method":"${method}","status":${status},` +
    `"durationMs":${durationMs},"msg":"request"}\n`
  );
}
