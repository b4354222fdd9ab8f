import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiCreatedResponse } from '@nestjs/swagger';

declare module 'fastify' {
  interface FastifyContextConfig {
    createdAt?: string;
  }
}

export interface CreatesOptions {
  /**
   * The path of the created resource, with members of the response: `/store/orders/:id`. It is relative to the base
   * address; for a public controller, to its origin.
   */
  at: string;
  description?: string;
}

/** Answers 201 with the absolute `Location` of the created resource, and documents both. */
export function Creates(type: Type, { at, description = '' }: CreatesOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(201),
    // The adapter sets the header.
    RouteConfig({ createdAt: at }),
    ApiCreatedResponse({
      description,
      type,
      headers: {
        Location: {
          description: 'URL of the created resource.',
          required: true,
          schema: { type: 'string', format: 'uri' },
        },
      },
    }),
  );
}

/**
 * The path of a created resource; undefined if `created` lacks a member of it.
 * @param at as in `CreatesOptions`
 */
export function createdPath(at: string, created: unknown): string | undefined {
  const members = (created ?? {}) as Record<string, unknown>;
  const segments = at.split('/').map((segment) => {
    if (!segment.startsWith(':')) return segment;
    const value = members[segment.slice(1)] ?? undefined;
    // eslint-disable-next-line @typescript-eslint/no-base-to-string -- an id of any type
    return value === undefined ? undefined : encodeURIComponent(String(value));
  });
  return segments.includes(undefined) ? undefined : segments.join('/');
}
