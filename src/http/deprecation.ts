import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiResponse } from '@nestjs/swagger';
import { Clock } from '../config/clock.js';
import { Config } from '../config/config.js';
import { ApiError } from './api-error.js';
import { ErrorBody } from './error.dto.js';
import { PublicAddress } from './public-address.js';
import { replyOf } from './request-context.js';

/** How an operation is retired. */
export interface Deprecation {
  /** Since when it should not be used any more. */
  since: Date;
  /** From when on it answers 410. */
  sunset: Date;
  /** The path of its replacement, relative to the base address, and how to use it. */
  successor: { path: string; hint: string };
}

const deprecations = new Map<unknown, Deprecation>();
const DAY_MS = 86_400_000;

/**
 * Retires an operation, all of it: the document marks it, every response of it carries `Deprecation`
 * (RFC 9745), `Sunset` (RFC 8594) and `Link`, and from its sunset on it answers 410.
 */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  const { since, sunset, successor } = deprecation;
  return applyDecorators(
    (_target: object, _name: string | symbol, descriptor: PropertyDescriptor) =>
      void deprecations.set(descriptor.value, deprecation),
    // Undefined leaves the summary of `@ApiOperation()` as it is; left out, it would be emptied.
    ApiOperation({ summary: undefined, deprecated: true }),
    ApiExtension('x-deprecated-since', isoDay(since)),
    ApiExtension('x-sunset', isoDay(sunset)),
    ApiExtension('x-replaced-by', `${successor.path} ${successor.hint}`),
    ApiResponse({
      status: 410,
      description: `The operation was removed on ${isoDay(sunset)}.`,
      type: ErrorBody,
    }),
  );
}

function isoDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** First in the order of judgement: a refusal of a deprecated operation says so as well. */
@Injectable()
export class DeprecationGuard implements CanActivate {
  private readonly headers = new Map<unknown, Record<string, string>>();

  constructor(private readonly address: PublicAddress) {}

  canActivate(context: ExecutionContext): boolean {
    const deprecation = deprecations.get(context.getHandler());
    if (deprecation !== undefined) {
      replyOf(context).headers(this.headersOf(context.getHandler(), deprecation));
    }
    return true;
  }

  private headersOf(handler: unknown, deprecation: Deprecation): Record<string, string> {
    const known = this.headers.get(handler);
    if (known !== undefined) return known;
    const successor = `${this.address.baseUrl}${deprecation.successor.path}`;
    const headers = {
      deprecation: `@${deprecation.since.getTime() / 1000}`,
      sunset: deprecation.sunset.toUTCString(),
      link: `<${successor}>; rel="successor-version", <${this.address.docsUrl}>; rel="deprecation"; type="text/html"`,
    };
    this.headers.set(handler, headers);
    return headers;
  }
}

/** Last but the body: the operation is gone, for those who may know. */
@Injectable()
export class SunsetGuard implements CanActivate {
  private readonly extensionMs: number;

  constructor(
    private readonly clock: Clock,
    config: Config,
  ) {
    this.extensionMs = config.sunsetExtensionDays * DAY_MS;
  }

  canActivate(context: ExecutionContext): boolean {
    const deprecation = deprecations.get(context.getHandler());
    if (deprecation === undefined) return true;
    if (this.clock.now() < deprecation.sunset.getTime() + this.extensionMs) return true;
    const { path, hint } = deprecation.successor;
    throw new ApiError('operation_removed', `The operation was removed; use GET ${path} ${hint}`);
  }
}
