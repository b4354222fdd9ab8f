import type { Logger } from '../telemetry/logger.js';
import type { Engine } from './engine.js';

const INTERVAL_MS = 1_000;

/** Has the operator know, once, of a database that was taken away under the server; returns what ends it. */
export function watchDatabase(engine: Engine, logger: Logger): () => void {
  let isAway = false;
  const look = async (): Promise<void> => {
    try {
      await engine.ping();
      if (isAway) logger.info({}, 'The database is back');
      isAway = false;
    } catch (err) {
      if (!isAway) logger.error({ err }, 'The database cannot be used; the error says what to do');
      isAway = true;
    }
  };
  const timer = setInterval(() => void look(), INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
