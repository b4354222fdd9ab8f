import type { LoggerService } from '@nestjs/common';
import { pino } from 'pino';
import { type Config, ConfigError } from '../config/config.js';
import { currentRequest } from './current-request.js';
import { LineBuffer } from './line-buffer.js';
import { VERSION } from '../config/version.js';
import { prettyStream } from './pretty.js';
import { type AnsweredRecord, lineBase, requestLine } from './request-line.js';

const SERVICE = 'pet-store-service';

/**
 * What the service logs through: a structured record first, then the sentence. What an operator may want
 * to be told of at once says so by its member `event`: `ban`, `audit`, `shed`.
 */
export abstract class Logger {
  abstract fatal(details: object, message: string): void;
  abstract error(details: object, message: string): void;
  abstract warn(details: object, message: string): void;
  abstract info(details: object, message: string): void;
  abstract debug(details: object, message: string): void;
  /** One line per answered request, at `info`. */
  abstract request(record: AnsweredRecord): void;
  /** Writes out what is still buffered. */
  abstract flush(): void;
}

/**
 * JSON lines, or readable ones for a terminal.
 * @param fd 1 is standard output
 * @param worker which of several processes that write there, for every line to say
 */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'> & Partial<Pick<Config, 'tracing'>>,
  fd: 1 | 2 = 1,
  worker?: number,
): Promise<Logger> {
  const isShared = worker !== undefined;
  const stream =
    config.logFormat === 'pretty' ? await prettyStream(fd) : new LineBuffer(fd, isShared);
  const base = { service: SERVICE, version: VERSION, ...(isShared && { worker }) };
  const traceAtHand = config.tracing ? await traceMixin() : undefined;
  const mixin = (): object => ({ ...requestAtHand(), ...traceAtHand?.() });
  const formatters = { level: (level: string) => ({ level }) };
  const logger = pino({ level: config.logLevel, base, formatters, mixin }, stream);
  const isDirect = config.logFormat === 'json' && logger.isLevelEnabled('info');
  const baseText = lineBase(base);
  return Object.assign(logger, {
    request: isDirect
      ? (record: AnsweredRecord) => void stream.write(requestLine(record, Date.now(), baseText))
      : (record: AnsweredRecord) => logger.info(record, 'request'),
  });
}

/** Lines of guests say for which request they are. */
function requestAtHand(): { requestId?: string } {
  const request = currentRequest();
  return request === undefined ? {} : { requestId: request.id };
}

/** What a line says of the request that is under way. */
async function traceMixin(): Promise<() => { traceId?: string }> {
  const { context, trace } = await import('@opentelemetry/api');
  return () => {
    const traceId = trace.getSpanContext(context.active())?.traceId;
    return traceId === undefined ? {} : { traceId };
  };
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
    // Told in full, and without a stack, by who started the application.
    if (message instanceof ConfigError) return;
    this.logger.error({ context: context.at(-1), err: message }, String(message));
  }

  fatal(message: unknown, ...context: unknown[]): void {
    this.logger.fatal({ context: context.at(-1), err: message }, String(message));
  }
}
