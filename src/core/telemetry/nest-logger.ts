import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import type { Logger } from './logger.js';

/** Contexts that report how Nest starts, which is detail. */
const STARTING = [
  'NestFactory',
  'NestApplication',
  'InstanceLoader',
  'InjectorLogger',
  'RoutesResolver',
  'RouterExplorer',
  'TypeOrmModule',
];

/**
 * Contexts of what ends the start, which the command prints: any error, an address that cannot be
 * used, a second unnamed connection.
 */
const ENDING = ['ExceptionHandler', 'NestApplication', 'DataSourceNameRegistry'];

/**
 * Nest's logger, for Nest itself and for extensions: arguments as of `ConsoleLogger`, lines of the
 * service's log.
 */
export class NestLogger extends ConsoleLogger {
  constructor(private readonly lines: Logger) {
    super();
  }

  protected override printMessages(
    given: unknown[],
    context = '',
    level: LogLevel = 'log',
    ...[, stack, params]: unknown[]
  ): void {
    // An error belongs to the line of the first message, as in Nest's own log in JSON.
    const { messages, error } = this.extractJsonError(given);
    for (const [index, message] of messages.entries()) {
      const [text, details] = typeof message === 'string' ? [message, params] : ['', message];
      const thrown = index === 0 ? error : undefined;
      const err = thrown ?? (stack === undefined ? undefined : { message: text, stack });
      const line = { context: context || undefined, err, details };
      this.lines[severity(level, context)](line, text);
    }
  }

  /** The stack is part of the line. */
  protected override printStackTrace(): void {}
}

function severity(level: LogLevel, context: string) {
  if (level === 'log') return STARTING.includes(context) ? 'debug' : 'info';
  return level === 'verbose' || ENDING.includes(context) ? 'debug' : level;
}
