import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { errors } from '../core/errors/errors.js';
import { CHALLENGE } from '../core/errors/to-api-error.js';
import { Operations } from '../core/http/operations.js';
import { isPublic } from '../core/http/public.decorator.js';
import { replyOf, requestOf } from '../core/http/request.js';
import { AdminTokens } from '../core/keys/admin-tokens.service.js';
import { Authenticator, bearerToken } from '../core/keys/authenticator.js';
import { InsecureRequests } from '../core/keys/https.guard.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the admin token. */
    admin?: string;
  }
}

/** Authenticates every request, except those to a `@Public()` controller. */
@Injectable()
export class AdminGuard implements CanActivate {
  constructor(
    private readonly tokens: AdminTokens,
    private readonly authenticator: Authenticator,
    private readonly insecure: InsecureRequests,
    private readonly operations: Operations,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const request = requestOf(context);
    request.operation = this.operations.ids.of(context);
    if (isPublic(context.getClass())) return true;
    const token = bearerToken(request);
    const found = token === undefined ? null : await this.tokens.find(token);
    if (found === null) {
      return this.authenticator.reject(token, request, replyOf(context), { kind: 'admin token' });
    }
    this.insecure.reject(request, found.id);
    // The console offers a viewer only what it may do.
    replyOf(context).header('x-admin-role', found.role);
    if (found.role === 'viewer' && !/^(?:GET|HEAD)$/.test(request.method)) {
      throw errors.insufficient_scope('The token has the role viewer, which may only read', {
        headers: { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope"` },
      });
    }
    request.admin = found.name;
    return true;
  }
}
