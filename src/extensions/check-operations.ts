import type { INestApplication } from '@nestjs/common';
import { FallbackController } from '../http/fallback.controller.js';
import { type Operation, operationsOf } from '../http/operations.js';
import { isPublic } from '../http/request-context.js';
import { isApiTarget } from '../http/target.js';
import { REQUIRED_SCOPES } from '../keys/scope.guard.js';
import { Scopes } from '../keys/scopes.js';
import { ExtensionError } from './check.js';

/** @throws {ExtensionError} naming each operation that cannot be served as it is declared */
export function checkOperations(app: INestApplication): void {
  const operations = operationsOf(app).filter(
    ({ controller }) => controller !== FallbackController,
  );
  const scopes = app.get(Scopes);
  const faults = [
    ...declaredTwice(operations),
    ...operations.flatMap(publicBelowApi),
    ...operations.flatMap((operation) => faultsOfScopes(operation, scopes)),
  ];
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
}

/**
 * One path may give its parameters other names than another; it is the same for all that. So it is where only
 * one is public: Nest would serve both outside `/v1`.
 */
function declaredTwice(operations: readonly Operation[]): string[] {
  const known = new Map<string, { method: string; name: string }[]>();
  return operations.flatMap(({ controller, method, paths, name }) =>
    paths.flatMap((path) => {
      const full = isPublic(controller) ? path : `/v1${path}`;
      const resource = path.replace(/:\w+/g, ':').replace(/\*\w+/g, '*');
      const others = known.get(resource) ?? [];
      known.set(resource, [...others, { method, name }]);
      const other = others.find(
        (each) => [each.method, 'ALL'].includes(method) || each.method === 'ALL',
      );
      return other === undefined
        ? []
        : [`The operation ${method} ${full} is declared twice: by ${other.name} and by ${name}`];
    }),
  );
}

/** Below `/v1` every answer is under a key and a quota. */
function publicBelowApi({ controller, paths, name }: Operation): string[] {
  const path = isPublic(controller) ? paths.find(isApiTarget) : undefined;
  if (path === undefined) return [];
  return [`${name} is @Public() at ${path}, where nothing is without a key: give it another path`];
}

function faultsOfScopes({ controller, handler, name }: Operation, scopes: Scopes): string[] {
  if (isPublic(controller)) return [];
  const required = (Reflect.getMetadata(REQUIRED_SCOPES, handler) ??
    Reflect.getMetadata(REQUIRED_SCOPES, controller)) as readonly string[] | undefined;
  if (required === undefined) {
    return [`${name} says neither @RequireScope(...) nor @AnyScope()`];
  }
  return required
    .filter((scope) => !scopes.has(scope))
    .map((scope) => `${name} requires the scope ${scope}, which nobody declares`);
}
