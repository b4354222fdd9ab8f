// The access line, buffered as that of the service is, and the latency histogram.
import { stdout } from 'bun';
import { durations } from '../fastify/histogram.mjs';

const MAX_BUFFERED_BYTES = 4_096;
const FLUSH_INTERVAL_MS = 200;

const log = stdout.writer({ highWaterMark: MAX_BUFFERED_BYTES });
setInterval(() => void log.flush(), FLUSH_INTERVAL_MS);

/** @param {{requestId, keyId, operation, method, status, durationMs: number}} line of one answered request */
export function observe(line) {
  const { operation, method, status, durationMs } = line;
  durations.observe({ operation, method, status }, durationMs / 1000);
  const members = { level: 'info', time: Date.now(), ...line, msg: 'request' };
  log.write(`${JSON.stringify({ ...members, durationMs: Math.round(durationMs * 100) / 100 })}\n`);
}
