import { applyDecorators, HttpCode, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiCreatedResponse } from '@nestjs/swagger';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The segments of the path. */
    createdAt?: readonly string[];
  }
}

/**
 * Answers 201 with the absolute `Location` of the created resource, and documents both.
 * @param options.at the path of the resource, with members of the response: `/store/orders/:id`. It
 *   is relative to the base address; for a public controller, to its origin.
 */
export function Creates(
  type: Type,
  { at, description = '' }: { at: string; description?: string },
): MethodDecorator {
  return applyDecorators(
    HttpCode(201),
    // The adapter sets the header.
    RouteConfig({ createdAt: at.split('/') }),
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

/** The path of a created resource; undefined if `created` lacks a member of it. */
export function createdPath(at: readonly string[], created: unknown): string | undefined {
  const members = (created ?? {}) as Record<string, string | number | bigint | null | undefined>;
  let path = '';
  for (const segment of at.slice(1)) {
    const value = segment.startsWith(':') ? members[segment.slice(1)] : segment;
    if (value === undefined || value === null) return undefined;
    path += `/${encodeURIComponent(String(value))}`;
  }
  return path;
}
