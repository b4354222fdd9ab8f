import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { ApiResponse, ApiSecurity } from '@nestjs/swagger';
import { ApiError } from '../http/api-error.js';
import { ErrorBody } from '../http/error.dto.js';
import { requestOf } from '../http/request-context.js';

/** The name of the security scheme in the document. */
export const BEARER_SCHEME = 'apiKey';

const requiredScopes = new Map<unknown, string>();

/** What a key must be allowed for the operation, in the guard and in the document. */
export function RequireScope(scope: string): MethodDecorator {
  return applyDecorators(
    (_target: object, _name: string | symbol, descriptor: PropertyDescriptor) =>
      void requiredScopes.set(descriptor.value, scope),
    ApiSecurity(BEARER_SCHEME, [scope]),
    ApiResponse({
      status: 403,
      description: `The API key lacks the scope \`${scope}\`.`,
      type: ErrorBody,
    }),
  );
}

@Injectable()
export class ScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const scope = requiredScopes.get(context.getHandler());
    if (scope === undefined) return true;
    const { caller } = requestOf(context);
    if (caller?.scopes.has(scope)) return true;
    throw new ApiError('insufficient_scope', `The API key lacks the scope ${scope}`);
  }
}
