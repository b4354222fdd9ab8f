import type { PetStore } from '../server.js';
import type { Logger } from '../telemetry/logger.js';

/**
 * Resolves when this process is told to stop. To be called early: as the first process of a container it
 * would be deaf to these signals by default. Further signals change nothing: npm and
 * a terminal both send one.
 */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    process.on('SIGTERM', () => resolve());
    process.on('SIGINT', () => resolve());
  });
}

/**
 * What was started; undefined where this process is told to stop before. What comes about later is closed:
 * nobody waits for it any more, and the process ends with what is then still under way.
 */
export async function unlessStopped(
  start: Promise<PetStore>,
  stop: Promise<void>,
): Promise<PetStore | undefined> {
  const store = await Promise.race([start, stop]);
  if (store !== undefined) return store;
  start.then(
    (late) => late.close(),
    () => undefined,
  );
  return undefined;
}

export function endOnUnknownState(logger: Logger): void {
  process.once('uncaughtException', (err) => {
    logger.fatal({ err }, 'Nobody handled this error: the process is in an unknown state and ends');
    logger.flush();
    process.exit(1);
  });
}
