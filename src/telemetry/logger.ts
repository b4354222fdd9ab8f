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

/** JSON lines to standard output, or readable ones for a terminal. */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'>,
): Promise<Logger> {
  const stream = config.logFormat === 'pretty' ? await prettyStream() : bufferedStream();
  const logger: Logger = pino({ level: config.logLevel, base: null }, stream);
  return logger;
}

/** Lines are gathered for a moment: one write call per line would cost more than the line. */
function bufferedStream(): DestinationStream {
  const stream = destination({ fd: 1, minLength: 4_096, sync: false });
  setInterval(() => stream.flush(), 200).unref();
  return stream;
}

/** Loaded on demand: production does not pay for it. */
async function prettyStream(): Promise<DestinationStream> {
  const { PinoPretty } = await import('pino-pretty');
  return PinoPretty({ translateTime: 'HH:MM:ss.l', ignore: 'pid,hostname', singleLine: true });
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
