import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, pino } from 'pino';
import type { Config } from '../config/config.js';
import { LineBuffer } from './line-buffer.js';
import { type RequestRecord, requestLine } from './request-line.js';

/** What the service logs through: a structured record first, then the sentence. */
export abstract class Logger {
  abstract fatal(details: object, message: string): void;
  abstract error(details: object, message: string): void;
  abstract warn(details: object, message: string): void;
  abstract info(details: object, message: string): void;
  abstract debug(details: object, message: string): void;
  /** One line per answered request, at `info`. */
  abstract request(record: RequestRecord): void;
  /** Writes out what is still buffered. */
  abstract flush(): void;
}

/**
 * JSON lines, or readable ones for a terminal.
 * @param fd 1 is standard output
 * @param worker which of several processes that write there, for every line to say
 */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  fd: 1 | 2 = 1,
  worker?: number,
): Promise<Logger> {
  const isShared = worker !== undefined;
  const stream =
    config.logFormat === 'pretty' ? await prettyStream(fd) : new LineBuffer(fd, isShared);
  const logger = pino({ level: config.logLevel, base: isShared ? { worker } : null }, stream);
  const isDirect = config.logFormat === 'json' && logger.isLevelEnabled('info');
  return Object.assign(logger, {
    request: isDirect
      ? (record: RequestRecord) => void stream.write(requestLine(record, Date.now(), worker))
      : (record: RequestRecord) => logger.info(record, 'request'),
  });
}

/** Loaded on demand: production does not pay for it. */
async function prettyStream(fd: number): Promise<DestinationStream> {
  const { PinoPretty } = await import('pino-pretty');
  return PinoPretty({
    destination: fd,
    translateTime: 'HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
}

/** Nest's own words, sent to the same place; what it says of a normal start is detail. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...context: unknown[]): void {
    this.logger.debug({ context: context.at(-1) }, String(message));
  }

  debug = this.log.bind(this);
  verbose = this.log.bind(this);

  warn(message: unknown, ...context: unknown[]): void {
    this.logger.warn({ context: context.at(-1) }, String(message));
  }

  error(message: unknown, ...context: unknown[]): void {
    this.logger.error({ context: context.at(-1), err: message }, String(message));
  }

  fatal(message: unknown, ...context: unknown[]): void {
    this.logger.fatal({ context: context.at(-1), err: message }, String(message));
  }
}
