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
import { ApiCreatedResponse } from '@nestjs/swagger';
import { map, type Observable } from 'rxjs';
import { listNoted, NOTED } from './nest-metadata.js';
import { PublicAddress } from './public-address.js';
import { isPublic, READS_NO_BODY, replyOf } from './request-context.js';

const AT = 'petstore:created-at';

export interface CreatesOptions {
  /**
   * Where it is found, with members of the answer: `/store/orders/:id`, relative to the base address; of a public
   * controller, to its origin.
   */
  at: string;
  description?: string;
}

/** The operation creates what it returns: a 201 with its absolute `Location`, which the document describes. */
export function Creates(type: Type, { at, description = '' }: CreatesOptions): MethodDecorator {
  return applyDecorators(
    HttpCode(201),
    atTheOutermost(LocationInterceptor),
    SetMetadata(AT, at),
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
 * An interceptor of the class, before those of its own decorators, which are evaluated later: it sees what the
 * others have made of an answer. It has to leave the handlers alone that are not its own.
 */
export function atTheOutermost(
  interceptor: Type<NestInterceptor>,
  after?: Type<NestInterceptor>,
): MethodDecorator {
  return (target) => {
    const controller = target.constructor;
    const all = listNoted(controller, NOTED.interceptors);
    if (all.includes(interceptor)) return;
    const start = all.indexOf(after) + 1;
    const placed = [...all.slice(0, start), interceptor, ...all.slice(start)];
    Reflect.defineMetadata(NOTED.interceptors, placed, controller);
  };
}

type Answer = Readonly<Record<string, string | number | bigint | null>> | null | undefined;

@Injectable()
export class LocationInterceptor implements NestInterceptor {
  constructor(private readonly address: PublicAddress) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const at = Reflect.getMetadata(AT, context.getHandler()) as string | undefined;
    if (at === undefined) return next.handle();
    return next.handle().pipe(
      map((answer: Answer) => {
        const path = at.replace(/:(\w+)/g, (_parameter, name: string) => {
          const value = answer?.[name];
          if (value === undefined || value === null) throw withoutMember(context, at, name);
          return encodeURIComponent(String(value));
        });
        const { address } = this;
        const base = isPublic(context.getClass()) ? address.origin : address.baseUrl;
        replyOf(context).header('location', base + path);
        return answer;
      }),
    );
  }
}
Reflect.defineMetadata(READS_NO_BODY, true, LocationInterceptor);

/** As an error names it, for its author to find. */
export function nameOfOperation(context: ExecutionContext): string {
  return `${context.getClass().name}.${context.getHandler().name}`;
}

/** An interceptor of the operation has most likely put its answer into an envelope. */
function withoutMember(context: ExecutionContext, at: string, name: string): Error {
  return new Error(
    `${nameOfOperation(context)}: @Creates({ at: '${at}' }) finds no member ${name} in what its interceptors make of the answer`,
  );
}
