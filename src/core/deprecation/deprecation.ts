import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { ApiExtension, ApiOperation } from '@nestjs/swagger';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { ApiErrors } from '../errors/api-errors.decorator.js';
import { errors } from '../errors/errors.js';
import { PublicAddress } from '../config/public-address.js';
import { Operations } from '../http/operations.js';
import { type Handler, PerOperation, replyOf } from '../http/request.js';
import { Metrics } from '../telemetry/metrics.js';
import { Clock } from '../time/clock.js';
import { DAY_MS } from '../time/windows.js';

/** How an operation is removed. */
export interface Deprecation {
  /** Start of the deprecation. */
  since: Date;
  /** From this moment on, plus `SUNSET_EXTENSION_DAYS`, the operation responds with 410. */
  sunset: Date;
  /**
   * The replacement: its method (default GET), its path relative to the base address, and how to
   * use it.
   */
  successor: { method?: string; path: string; hint: string };
}

const DEPRECATION = 'petstore:deprecation';

/**
 * Deprecates an operation: the document marks it, every response carries `Deprecation` (RFC 9745),
 * `Sunset` (RFC 8594) and `Link`. From its sunset on, the operation responds with 410.
 */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  const { since, sunset, successor } = deprecation;
  if (Number.isNaN(since.getTime() + sunset.getTime())) {
    throw new RangeError(`@Deprecated() for ${successor.path}: since and sunset must be valid`);
  }
  return applyDecorators(
    SetMetadata(DEPRECATION, deprecation),
    // Undefined keeps the summary of `@ApiOperation()`; without the member, it would be emptied.
    ApiOperation({ summary: undefined, deprecated: true }),
    ApiExtension('x-sunset', sunset.toISOString().slice(0, 10)),
    ApiExtension('x-replaced-by', `${successor.path} ${successor.hint}`),
    ApiErrors('operation_removed'),
  );
}

function deprecationOf(handler: Handler): Deprecation | undefined {
  return Reflect.getMetadata(DEPRECATION, handler) as Deprecation | undefined;
}

/** Runs first, so that errors of a deprecated operation carry its headers as well. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  private readonly calls: Counter<'operation'>;
  private readonly headers = new PerOperation((handler) => {
    const deprecation = deprecationOf(handler);
    if (deprecation === undefined) return undefined;
    const { since, sunset, successor } = deprecation;
    return {
      deprecation: `@${since.getTime() / 1000}`,
      sunset: sunset.toUTCString(),
      link:
        `<${this.address.baseUrl}${successor.path}>; rel="successor-version", ` +
        `<${this.address.docsUrl}>; rel="deprecation"; type="text/html"`,
    };
  });

  constructor(
    private readonly address: PublicAddress,
    private readonly operations: Operations,
    metrics: Metrics,
  ) {
    this.calls = metrics.counter({
      name: 'deprecated_calls_total',
      help: 'Requests for deprecated operations, by operation.',
      labelNames: ['operation'],
    });
  }

  canActivate(context: ExecutionContext): boolean {
    const headers = this.headers.of(context);
    if (headers === undefined) return true;
    replyOf(context).headers(headers);
    this.calls.inc({ operation: this.operations.ids.of(context) });
    return true;
  }
}

/** Responds with 410 after the sunset, but only to callers whose key permits the operation. */
@Injectable()
export class SunsetGuard implements CanActivate {
  constructor(
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const deprecation = deprecationOf(context.getHandler());
    if (deprecation === undefined) return true;
    const endMs = deprecation.sunset.getTime() + this.config.sunsetExtensionDays * DAY_MS;
    if (this.clock.now() < endMs) return true;
    const { method = 'GET', path, hint } = deprecation.successor;
    throw errors.operation_removed(
      `This operation has been removed; use ${method} ${path} ${hint}`,
    );
  }
}
