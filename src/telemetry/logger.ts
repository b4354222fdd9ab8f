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
 * @param fd to write to: 1 is standard output
 * @param worker which of several processes that write there, for every line to say
 */
export async function createLogger(
  config: Pick<Config, 'logLevel' | 'logFormat'> & Partial<Pick<Config, 'tracing'>>,
  fd = 1,
  worker?: number,
): Promise<Logger> {
  const isShared = worker !== undefined;
  const lines = new LineBuffer(fd, isShared);
  const stream = config.logFormat === 'pretty' ? await prettyStream(lines) : lines;
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

/** Whoever tells how Nest starts, which is detail. */
const STARTING = new Set([
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'InjectorLogger',
  'RoutesResolver',
  'RouterExplorer',
  'TypeOrmModule',
]);
const STACK = /\n\s+at /;

/** What Nest's own `Logger` is told, by Nest and by guests, in our lines. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

  log(message: unknown, ...others: unknown[]): void {
    this.say('info', message, others);
  }

  debug(message: unknown, ...others: unknown[]): void {
    this.say('debug', message, others);
  }

  verbose = this.debug.bind(this);

  warn(message: unknown, ...others: unknown[]): void {
    this.say('warn', message, others);
  }

  error(message: unknown, ...others: unknown[]): void {
    // Told in full, and without a stack, by who started the application.
    if (message instanceof ConfigError) return;
    const isTold = others.at(-1) === 'ExceptionHandler' && isFailure(message);
    this.say(isTold ? 'debug' : 'error', message, others);
  }

  fatal(message: unknown, ...others: unknown[]): void {
    this.say('fatal', message, others);
  }

  private say(level: Level, message: unknown, others: readonly unknown[]): void {
    const { details, text } = entryOf(message, others);
    const isStart = level === 'info' && STARTING.has(details.context!);
    this.logger[isStart ? 'debug' : level](details, text);
  }
}

/** Of the network, the disk or the database, and no fault of a program, of which its stack tells. */
function isFailure(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof Error && typeof code === 'string' && !code.startsWith('ERR_');
}

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug';

interface Entry {
  details: { context?: string; err?: unknown; details?: unknown };
  text: string;
}

/** As Nest's `ConsoleLogger` takes them: messages, errors and objects, a stack, and last the name of who speaks. */
function entryOf(message: unknown, others: readonly unknown[]): Entry {
  const last = others.at(-1);
  const context = typeof last === 'string' && !STACK.test(last) ? last : undefined;
  const said = [message, ...(context === undefined ? others : others.slice(0, -1))];
  const texts = said.filter((each) => typeof each === 'string');
  const stack = texts.find((text, index) => index > 0 && STACK.test(text));
  const error = said.find((each) => each instanceof Error);
  const objects = said.filter(
    (each) => typeof each === 'object' && each !== null && each !== error,
  );
  const words = said
    .filter((each) => each !== undefined && each !== stack && !objects.includes(each as object))
    .map((each) => (each instanceof Error ? each.message : String(each)));
  const err = error ?? (stack === undefined ? undefined : { message: String(message), stack });
  return {
    details: {
      ...(context !== undefined && { context }),
      ...(err !== undefined && { err }),
      ...(objects.length > 0 && { details: objects.length === 1 ? objects[0] : objects }),
    },
    text: words.join(' '),
  };
}
