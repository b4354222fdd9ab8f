import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Contexts that report how Nest starts, which is detail. */
const STARTING: readonly string[] = [
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'InjectorLogger',
  'RoutesResolver',
  'RouterExplorer',
  'TypeOrmModule',
];

/** Contexts whose errors end the start; the second is of an address that cannot be used. */
const ENDING: readonly string[] = ['ExceptionHandler', 'NestApplication'];

/** The arguments of `printMessages()`. */
type Printed = [
  messages: unknown[],
  context?: string,
  level?: LogLevel,
  stream?: 'stdout' | 'stderr',
  stack?: unknown,
  params?: Record<string, unknown>,
];

/**
 * Nest's logger, for Nest itself and for extensions: arguments as of `ConsoleLogger`, lines of the
 * service's log.
 */
export class NestLogger extends ConsoleLogger {
  constructor(private readonly lines: Logger) {
    super();
  }

  protected override printMessages(...printed: Printed): void {
    const [messages, context = '', level = 'log', , stack, params] = printed;
    for (const message of messages) {
      const error = message instanceof Error ? message : undefined;
      const text = textOf(message);
      const err = error ?? (stack === undefined ? undefined : { message: text, stack });
      const details = error !== undefined || typeof message === 'string' ? params : message;
      const line = { context: context || undefined, err, details };
      this.lines[severity(level, context)](line, text);
    }
  }

  /** The stack is part of the line. */
  protected override printStackTrace(): void {}
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  return message instanceof Error ? message.message : '';
}

function severity(level: LogLevel, context: string) {
  if (level === 'log') return STARTING.includes(context) ? 'debug' : 'info';
  if (level === 'verbose') return 'debug';
  // They end the start: the command prints them.
  return level === 'error' && ENDING.includes(context) ? 'debug' : level;
}
