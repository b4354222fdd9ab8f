import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { errors } from '../errors/errors.js';
import { CHALLENGE } from '../errors/to-api-error.js';
import { type Handler, requestOf } from '../http/request.js';

const REQUIRED_SCOPES = 'petstore:required-scopes';

/**
 * Requires a key with all of these scopes, for an operation or for every operation of a controller.
 * Name all scopes in one decorator: of two on the same method, only the upper one counts.
 * @param scopes names such as `pets:read`, each declared by the service or an extension
 */
export function RequireScope(
  ...scopes: readonly [string, ...string[]]
): MethodDecorator & ClassDecorator {
  return SetMetadata(REQUIRED_SCOPES, scopes);
}

/** Accepts any valid key, regardless of its scopes. */
export function AnyScope(): MethodDecorator & ClassDecorator {
  return SetMetadata(REQUIRED_SCOPES, []);
}

/**
 * The scopes that an operation requires: an empty list accepts any valid key. Undefined for an
 * operation with neither decorator.
 */
export function requiredScopesOf(handler: Handler, controller: Type): string[] | undefined {
  return new Reflector().getAllAndOverride(REQUIRED_SCOPES, [handler, controller]);
}

/** Rejects a caller whose key lacks a required scope: 403 `insufficient_scope`. */
@Injectable()
export class ScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const required = requiredScopesOf(context.getHandler(), context.getClass()) ?? [];
    const { caller } = requestOf(context);
    const missing = required.find((scope) => !caller?.scopes.has(scope));
    if (missing === undefined) return true;
    const scopes = required.join(' ');
    const challenge = `${CHALLENGE}, error="insufficient_scope", scope="${scopes}"`;
    throw errors.insufficient_scope(`The API key lacks the scope ${missing}`, {
      headers: { 'WWW-Authenticate': challenge },
    });
  }
}
