import { createLogger, type Logger } from '../../src/core/telemetry/logger.js';

export interface Line {
  level: 'fatal' | 'error' | 'warn' | 'info' | 'debug';
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what a test expects it to be
  details: any;
  message: string;
}

/** A logger that records its lines. */
export function recordedLog(): { logger: Logger; lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: Line['level']) =>
    (details: object, message = '') =>
      void lines.push({ level, details, message });
  const logger: Logger = {
    fatal: at('fatal'),
    error: at('error'),
    warn: at('warn'),
    info: at('info'),
    debug: at('debug'),
    flush: () => undefined,
  };
  return { logger, lines };
}

/** The logger of the service, which writes to an open file. */
export function logTo(fd: number): Promise<Logger> {
  return createLogger({ logLevel: 'info', logFormat: 'json' }, fd);
}
