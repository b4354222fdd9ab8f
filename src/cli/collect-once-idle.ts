import { performance } from 'node:perf_hooks';
import type { Logger } from '../telemetry/logger.js';

const LOOK_MS = 1_000;
/** Of the time between two looks: who is asked for anything is busier. */
const IDLE_SHARE = 0.05;

/**
 * Collects what the start has left behind, a sixth of the process, once it has been idle for a second: V8 does so when
 * it needs the room, and where few ask, never. Nobody is answered for a tenth or two of a second meanwhile: too long to
 * do so again behind each load.
 */
export function collectOnceIdle(
  logger: Pick<Logger, 'debug'>,
  stop: Promise<void>,
  collect = collectGarbage,
): void {
  let before = performance.eventLoopUtilization();
  const look = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > IDLE_SHARE) return;
    clearInterval(look);
    collect().then(
      () => logger.debug({ residentBytes: process.memoryUsage.rss() }, 'The heap is tidied'),
      (err: unknown) => logger.debug({ err }, 'The heap cannot be tidied; nothing else is wrong'),
    );
  }, LOOK_MS).unref();
  void stop.then(() => clearInterval(look));
}

/** By the protocol of debuggers: of the ways to ask for it, the one that needs no flag of V8. */
async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  try {
    await session.post('HeapProfiler.collectGarbage');
  } finally {
    session.disconnect();
  }
}
