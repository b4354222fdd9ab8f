import { applyDecorators, SetMetadata } from '@nestjs/common';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { FastifyContextConfig } from 'fastify';
import type { Handler } from './request.js';

/** What the body of a request may be. */
export interface BodyLimits {
  /** Size in bytes; at most 16 MiB. Default: 65,536. */
  bytes?: number;
  /** Number of values in JSON, objects and arrays included. Default: 1,000. */
  values?: number;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The limits of `@BodyLimit()`. */
    bodyLimits?: BodyLimits;
    /** The media types of `@AcceptsBody()`. */
    bodyTypes?: readonly string[];
  }
}

export const MAX_BODY_BYTES = 16 * 1_048_576;
/** 64 KiB: some hundred times the largest pet. */
const BYTES = 65_536;
/** Keeps the cost of validating a body small. */
const VALUES = 1_000;

type RouteBody = Pick<FastifyContextConfig, 'bodyLimits' | 'bodyTypes'>;

/** Sets other limits for the body of an operation than 64 KiB and 1,000 values. */
export function BodyLimit(limits: BodyLimits): MethodDecorator {
  return configure({ bodyLimits: limits });
}

/**
 * Accepts a body of these media types, and of no other. `@Body()` is a `Buffer` of its bytes.
 * @param types for example `image/png`
 */
export function AcceptsBody(...types: [string, ...string[]]): MethodDecorator {
  return applyDecorators(
    configure({ bodyTypes: types.map((type) => type.toLowerCase()) }),
    ApiConsumes(...types),
    ApiBody({ schema: { type: 'string', format: 'binary' }, required: true }),
  );
}

/** Adds to the route's configuration in Fastify, which knows it before the body is read. */
function configure(body: RouteBody): MethodDecorator {
  return (target, key, descriptor) => {
    const config = { ...configOf(descriptor.value as Handler), ...body };
    SetMetadata(FASTIFY_ROUTE_CONFIG_METADATA, config)(target, key, descriptor);
  };
}

function configOf(handler: Handler): RouteBody {
  return (Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) ?? {}) as RouteBody;
}

/** What the body of an operation may be, by the configuration of its route. */
export function bodyRulesOf({ bodyLimits = {}, bodyTypes }: RouteBody = {}) {
  const { bytes = BYTES, values = VALUES } = bodyLimits;
  return { bytes, values, types: bodyTypes };
}

/** What the body of an operation may be, by the metadata of its handler. */
export function bodyRulesOfHandler(handler: Handler) {
  return bodyRulesOf(configOf(handler));
}
