import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/** What is said of a request once it is answered. Keys are never part of it. */
export interface AnsweredRequest {
  id: string;
  operation: string | undefined;
  method: string;
  caller?: { keyId: string } | undefined;
}

/** One line and one count per answered request. */
export function accessLog(logger: Logger, metrics: Metrics) {
  return (request: AnsweredRequest, status: number, elapsedMs: number): void => {
    const { operation = 'unknown' } = request;
    metrics.countRequest(operation, status, elapsedMs / 1000);
    logger.request({
      requestId: request.id,
      keyId: request.caller?.keyId,
      operation,
      method: request.method,
      status,
      durationMs: Math.round(elapsedMs * 100) / 100,
    });
  };
}
