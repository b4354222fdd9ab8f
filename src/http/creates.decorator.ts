import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  HttpCode,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { INTERCEPTORS_METADATA } from '@nestjs/common/constants.js';
import { Reflector } from '@nestjs/core';
import { ApiCreatedResponse } from '@nestjs/swagger';
import { map, type Observable } from 'rxjs';
import { isPublic } from './public.decorator.js';
import { PublicAddress } from './public-address.js';
import { replyOf } from './request-context.js';

const CREATED_AT = 'petstore:created-at';

export interface CreatesOptions {
  /**
   * The path of the created resource, with members of the response: `/store/orders/:id`. It is relative to the base
   * address; for a public controller, to its origin.
   */
  at: string;
  description?: string;
}

/** Answers 201 with the absolute `Location` of what the handler returns, and documents both. */
export function Creates(type: Type, { at, description = '' }: CreatesOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(201),
    useOuterInterceptor(LocationInterceptor),
    SetMetadata(CREATED_AT, at),
    ApiCreatedResponse({
      description,
      type,
      headers: {
        Location: {
          description: 'The address of what was created.',
          required: true,
          schema: { type: 'string', format: 'uri' },
        },
      },
    }),
  );
}

/**
 * Adds an interceptor outside of the others of the method, in whatever order the decorators are.
 * @param inside another interceptor that stays outside of it
 */
export function useOuterInterceptor(
  interceptor: Type<NestInterceptor>,
  inside?: Type<NestInterceptor>,
): MethodDecorator {
  return (_target, _name, { value }: PropertyDescriptor) => {
    const others = (Reflect.getMetadata(INTERCEPTORS_METADATA, value as object) ?? []) as unknown[];
    const index = others.indexOf(inside) + 1;
    const all = [...others.slice(0, index), interceptor, ...others.slice(index)];
    Reflect.defineMetadata(INTERCEPTORS_METADATA, all, value as object);
  };
}

type Created = Readonly<Record<string, unknown>> | null | undefined;

@Injectable()
export class LocationInterceptor implements NestInterceptor {
  constructor(
    private readonly address: PublicAddress,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const at = this.reflector.get<string>(CREATED_AT, context.getHandler());
    const { origin, baseUrl } = this.address;
    const base = isPublic(context.getClass()) ? origin : baseUrl;
    return next.handle().pipe(
      map((created: Created) => {
        const path = at.replace(/:(\w+)/g, (_parameter, name: string) => {
          const value = created?.[name];
          if (value === undefined || value === null) {
            const operation = `${context.getClass().name}.${context.getHandler().name}`;
            throw new Error(
              `${operation}: the response of @Creates({ at: '${at}' }) has no ${name}`,
            );
          }
          // eslint-disable-next-line @typescript-eslint/no-base-to-string -- an id of any type
          return encodeURIComponent(String(value));
        });
        replyOf(context).header('location', base + path);
        return created;
      }),
    );
  }
}
