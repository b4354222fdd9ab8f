// The access line, buffered as that of the service is, and the latency histogram with the same labels and buckets.
import { stdout } from 'bun';
import { Histogram } from 'prom-client';

const MAX_BUFFERED_BYTES = 4_096;
const FLUSH_INTERVAL_MS = 200;

const log = stdout.writer({ highWaterMark: MAX_BUFFERED_BYTES });
setInterval(() => void log.flush(), FLUSH_INTERVAL_MS);
const durations = new Histogram({
  name: 'http_request_duration_seconds',
  help: 'Time from the first hook to the end of the response.',
  labelNames: ['operation', 'method', 'status'],
  buckets: [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ],
});

/** @param {{requestId, keyId, operation, method, status, durationMs: number}} line of one answered request */
export function observe(line) {
  const { operation, method, status, durationMs } = line;
  durations.observe({ operation, method, status }, durationMs / 1000);
  const members = { level: 'info', time: Date.now(), ...line, msg: 'request' };
  log.write(`${JSON.stringify({ ...members, durationMs: Math.round(durationMs * 100) / 100 })}\n`);
}
