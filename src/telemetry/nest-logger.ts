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

const PROGRAMMING_ERROR = /^(Type|Reference|Range|Syntax)Error\b/;

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
      this.lines[severity(level, context, message)](line, text);
    }
  }

  /** The stack is part of the line. */
  protected override printStackTrace(): void {}
}

function textOf(message: unknown): string {
  if (typeof message === 'string') return message;
  return message instanceof Error ? message.message : '';
}

function severity(level: LogLevel, context: string, message: unknown) {
  if (level === 'log') return STARTING.includes(context) ? 'debug' : 'info';
  if (level === 'verbose') return 'debug';
  // The command prints what ended the start; a programming error needs its stack as well.
  const isExplained = context === 'ExceptionHandler' && !PROGRAMMING_ERROR.test(String(message));
  return level === 'error' && isExplained ? 'debug' : level;
}
