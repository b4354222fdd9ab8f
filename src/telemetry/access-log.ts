import type { Logger } from './logger.js';
import type { Metrics } from './metrics.js';

/** What is said of a request once it is answered. Keys are never part of it. */
export interface AnsweredRequest {
  id: string;
  operation: string | undefined;
  method: string;
  caller?: { keyId: string } | undefined;
}

export interface Answer {
  statusCode: number;
  elapsedTime: number;
}

/** One line and one count per answered request. */
export function accessLog(logger: Logger, metrics: Metrics) {
  return (request: AnsweredRequest, { statusCode, elapsedTime }: Answer): void => {
    const { operation = 'unknown' } = request;
    metrics.countRequest(operation, statusCode, elapsedTime / 1000);
    logger.request({
      requestId: request.id,
      keyId: request.caller?.keyId,
      operation,
      method: request.method,
      status: statusCode,
      durationMs: Math.round(elapsedTime * 100) / 100,
    });
  };
}
