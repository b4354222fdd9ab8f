import type { INestApplication } from '@nestjs/common';
import { FallbackController } from '../http/fallback.controller.js';
import { type Operation, operationsOf } from '../http/operations.js';
import { isPublic } from '../http/public.decorator.js';
import { isApiTarget } from '../http/target.js';
import { REQUIRED_SCOPES } from '../keys/scope.guard.js';
import { Scopes } from '../keys/scopes.js';
import { ExtensionError } from './check.js';

/** @throws {ExtensionError} with every operation that cannot be served as declared */
export function checkOperations(app: INestApplication): void {
  const operations = operationsOf(app).filter(
    ({ controller }) => controller !== FallbackController,
  );
  const scopes = app.get(Scopes);
  const faults = [
    ...repeatedOperations(operations),
    ...operations.flatMap((operation) => scopeFaults(operation, scopes)),
  ];
  if (faults.length > 0) throw new ExtensionError(faults.join('; '));
}

/**
 * Paths count as equal whatever their parameters are called. A public operation must not share its path with one under
 * `/v1`: Nest would serve both without the prefix.
 */
function repeatedOperations(operations: readonly Operation[]): string[] {
  const known = new Map<string, Operation[]>();
  return operations.flatMap((operation) =>
    operation.paths.flatMap((path) => {
      const { controller, method, name } = operation;
      const resource = path.replace(/:\w+/g, ':').replace(/\*\w+/g, '*');
      const others = known.get(resource) ?? [];
      known.set(resource, [...others, operation]);
      const other = others.find(
        (each) => each.method === method || each.method === 'ALL' || method === 'ALL',
      );
      const full = isPublic(controller) ? path : `/v1${path}`;
      return other === undefined
        ? []
        : [`the operation ${method} ${full} is declared twice: by ${other.name} and by ${name}`];
    }),
  );
}

function scopeFaults({ controller, handler, name, paths }: Operation, scopes: Scopes): string[] {
  if (isPublic(controller)) {
    const path = paths.find(isApiTarget);
    return path === undefined
      ? []
      : [`${name} is @Public() at ${path}, but every operation under /v1 needs a key`];
  }
  const required = (Reflect.getMetadata(REQUIRED_SCOPES, handler) ??
    Reflect.getMetadata(REQUIRED_SCOPES, controller)) as readonly string[] | undefined;
  if (required === undefined) {
    return [`${name} has neither @RequireScope(...) nor @AnyScope()`];
  }
  return required
    .filter((scope) => !scopes.has(scope))
    .map((scope) => `${name} requires the scope ${scope}, which no extension declares`);
}
