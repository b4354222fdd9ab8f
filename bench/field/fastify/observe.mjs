// The access line, buffered as that of the service is, and the latency histogram with the same labels and buckets.
import { destination, pino } from 'pino';
import { Histogram } from 'prom-client';

const log = pino(
  { base: { service: 'fastify' }, formatters: { level: (level) => ({ level }) } },
  destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 200 }),
);
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the request line to the last byte of the response.',
  labelNames: ['operation', 'method', 'status'],
  buckets: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
});

/** @param {{requestId, keyId, operation, method, status, durationMs: number}} line of one answered request */
export function observe(line) {
  const { operation, method, status, durationMs } = line;
  durations.observe({ operation, method, status }, durationMs / 1000);
  log.info({ ...line, durationMs: Math.round(durationMs * 100) / 100 }, 'request');
}
