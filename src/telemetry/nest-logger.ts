import type { LoggerService } from '@nestjs/common';
import { ConfigError } from '../config/config.js';
import type { Logger } from './logger.js';

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
