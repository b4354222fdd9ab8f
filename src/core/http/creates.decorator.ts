import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { type Observable, tap } from 'rxjs';
import { PublicAddress } from '../config/public-address.js';
import { isApiRoute, replyOf, requestOf } from './request.js';

const CREATED_AT = 'petstore:created-at';

/**
 * Responds with 201 and the absolute `Location` of the created resource, and documents both.
 * @param options.at the path of the resource, with members of the response: `/store/orders/:id`. It
 *   is relative to the base address; for a public controller, to its origin.
 */
export function Creates(
  type: Type,
  { at, description = '' }: { at: string; description?: string },
): MethodDecorator {
  return applyDecorators(
    HttpCode(201),
    SetMetadata(CREATED_AT, at),
    UseInterceptors(LocationInterceptor),
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

/** Sets the `Location` of what a handler with `@Creates()` returns. */
@Injectable()
class LocationInterceptor implements NestInterceptor {
  constructor(private readonly address: PublicAddress) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(tap((created) => setLocation(context, created, this.address)));
  }
}

/** Sets `Location` if the operation has `@Creates()` and `created` has the members of its path. */
export function setLocation(
  context: ExecutionContext,
  created: unknown,
  address: PublicAddress,
): void {
  const at = Reflect.getMetadata(CREATED_AT, context.getHandler()) as string | undefined;
  const path = at && createdPath(at.split('/'), created);
  if (!path) return;
  const base = isApiRoute(requestOf(context)) ? address.baseUrl : address.origin;
  replyOf(context).header('location', base + path);
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
