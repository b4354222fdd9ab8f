import type { INestApplication, Type } from '@nestjs/common';
import { RouteParamtypes, SSE_METADATA, VERSION_METADATA } from '@nestjs/common/internal';
import { operationsOf } from '../http/operations.js';
import type { Handler } from '../http/per-operation.js';
import { parametersOf } from '../input/operation-input.js';
import { PLAN_THROTTLER } from '../rate-limits/plan-throttler.guard.js';

const THROTTLER_METADATA = /^THROTTLER:(?:LIMIT|TTL|SKIP|BLOCK_DURATION|TRACKER|KEY_GENERATOR)/;
/** Of `@Throttle()`, what no shared window can do. */
const UNSHAREABLE = ['BLOCK_DURATION', 'TRACKER', 'KEY_GENERATOR'];

/** What only a body parser of one's own could give. */
const OWN_PARSER = new Map<RouteParamtypes | undefined, string>([
  [RouteParamtypes.FILE, '@UploadedFile()'],
  [RouteParamtypes.FILES, '@UploadedFiles()'],
  [RouteParamtypes.RAW_BODY, '@RawBody()'],
]);

/** A guest asks for what this service cannot honour; it is not started, and nothing silently ignored. */
export class UnsupportedOperationError extends Error {}

/** @throws {UnsupportedOperationError} that names class and method */
export function refuseUnsupported(app: INestApplication): void {
  for (const { controller, handler, name } of operationsOf(app)) {
    const reason = unsupportedOf(controller, handler);
    if (reason !== undefined) throw new UnsupportedOperationError(`${name}: ${reason}`);
  }
}

function unsupportedOf(controller: Type, handler: Handler): string | undefined {
  const targets = [controller, handler];
  if (Reflect.hasMetadata(SSE_METADATA, handler)) return '@Sse() is not supported';
  if (targets.some((target) => Reflect.getMetadata(VERSION_METADATA, target) !== undefined)) {
    return '@Version() is not supported: every operation is under /v1';
  }
  const parsed = parametersOf(controller, handler).find(({ from }) => OWN_PARSER.has(from));
  if (parsed !== undefined) {
    return `${OWN_PARSER.get(parsed.from)} is not supported: a body is JSON, and has no other parser`;
  }
  return targets.map(unsupportedThrottle).find((reason) => reason !== undefined);
}

function unsupportedThrottle(target: object): string | undefined {
  for (const key of Reflect.getMetadataKeys(target) as unknown[]) {
    if (typeof key !== 'string') continue;
    const throttler = key.replace(THROTTLER_METADATA, '');
    if (throttler === key) continue;
    if (throttler !== PLAN_THROTTLER) {
      return `there is no throttler "${throttler}", only "${PLAN_THROTTLER}"`;
    }
    const option = UNSHAREABLE.find((each) => key.includes(each));
    if (option !== undefined && Reflect.getMetadata(key, target) !== undefined) {
      return '@Throttle() takes limit and ttl, and nothing else';
    }
  }
  return undefined;
}
