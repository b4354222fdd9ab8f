// The access line, buffered as that of the service is, and the latency histogram.
import { destination, pino } from 'pino';
import { durations } from './histogram.mjs';

const log = pino(
  { base: { service: 'fastify' }, formatters: { level: (level) => ({ level }) } },
  destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 }),
);

/** @param {{requestId, keyId, operation, method, status, durationMs: number}} line of one answered request */
export function observe(line) {
  const { operation, method, status, durationMs } = line;
  durations.observe({ operation, method, status }, durationMs / 1000);
  log.info({ ...line, durationMs: Math.round(durationMs * 100) / 100 }, 'request');
}
