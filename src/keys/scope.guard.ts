import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiExtension } from '@nestjs/swagger';
import { errors } from '../errors/errors.js';
import { CHALLENGE } from '../http/http-exception.js';
import { PerOperation } from '../http/operations.js';
import { requestOf } from '../http/request-context.js';

/** The name of the security scheme in the document. */
export const BEARER_SCHEME = 'apiKey';

/** The scopes that an operation requires, as its metadata; an empty list where any key will do. */
export const REQUIRED_SCOPES = 'petstore:required-scopes';
const REPEATED = 'petstore:repeated-scopes';
/** How the document is told of them. */
export const SCOPES_EXTENSION = 'x-required-scopes';

/** What a key must be allowed for the operation, or for each one of the controller: all of `scopes`. */
export function RequireScope(
  ...scopes: readonly [string, ...string[]]
): MethodDecorator & ClassDecorator {
  return withScopes(scopes);
}

/** Any valid key will do, whatever its scopes. */
export function AnyScope(): MethodDecorator & ClassDecorator {
  return withScopes([]);
}

function withScopes(scopes: readonly string[]): MethodDecorator & ClassDecorator {
  return applyDecorators(
    noteRepeat,
    SetMetadata(REQUIRED_SCOPES, scopes),
    ApiExtension(SCOPES_EXTENSION, scopes),
  );
}

/** The second one would replace the first, and open what that has closed. */
function noteRepeat(target: object, _key?: unknown, descriptor?: PropertyDescriptor): void {
  const on = (descriptor?.value ?? target) as object;
  if (Reflect.hasOwnMetadata(REQUIRED_SCOPES, on)) Reflect.defineMetadata(REPEATED, true, on);
}

/** Whether it is said twice which scopes a method, or a class, requires. */
export function areScopesRepeated(target: object): boolean {
  return Reflect.hasOwnMetadata(REPEATED, target);
}

@Injectable()
export class ScopeGuard implements CanActivate {
  private readonly required: PerOperation<readonly string[]>;

  constructor(reflector: Reflector) {
    this.required = new PerOperation(
      (controller, handler) =>
        reflector.getAllAndOverride<string[] | undefined>(REQUIRED_SCOPES, [handler, controller]) ??
        [],
    );
  }

  canActivate(context: ExecutionContext): boolean {
    const required = this.required.of(context);
    if (required.length === 0) return true;
    const { caller } = requestOf(context);
    for (const scope of required) {
      if (!caller?.scopes.has(scope)) {
        throw errors.insufficient_scope(`The API key lacks the scope ${scope}`, {
          headers: {
            'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${required.join(' ')}"`,
          },
        });
      }
    }
    return true;
  }
}
