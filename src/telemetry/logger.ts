import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, destination, pino } from 'pino';
import type { Config } from '../config/config.js';

/** What the service logs through: a structured record first, then the sentence. */
export abstract class Logger {
  abstract fatal(details: object, message: string): void;
  abstract error(details: object, message: string): void;
  abstract warn(details: object, message: string): void;
  abstract info(details: object, message: string): void;
  abstract debug(details: object, message: string): void;
  /** Writes out what is still buffered. */
  abstract flush(): void;
}

/** JSON lines, or readable ones for a terminal, to a file descriptor: 1 is standard output. */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
  fd: 1 | 2 = 1,
): Promise<Logger> {
  const stream = config.logFormat === 'pretty' ? await prettyStream(fd) : bufferedStream(fd);
  const logger: Logger = pino({ level: config.logLevel, base: null }, stream);
  return logger;
}

/** Lines are gathered for a moment: one write call per line would cost more than the line. */
function bufferedStream(fd: number): DestinationStream {
  const stream = destination({ fd, minLength: 4_096, sync: false });
  setInterval(() => stream.flush(), 200).unref();
  return stream;
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
