import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ApiError, notFound } from './api-error.js';
import type { ApiRequest } from './request-context.js';
import { RouteTable } from './route-table.js';

/**
 * Answers what no operation under `/v1` does. It is a route like every other, so that the guards run
 * for it too: a caller without a key cannot search for paths.
 */
@Controller()
@ApiExcludeController()
export class FallbackController {
  constructor(private readonly routes: RouteTable) {}

  @All()
  base(@Req() request: ApiRequest): never {
    return this.unknown(request);
  }

  @All('*')
  unknown(@Req() request: ApiRequest): never {
    const allowed = this.routes.methodsOf(pathOf(request));
    if (allowed.length === 0) throw notFound();
    throw new ApiError('method_not_allowed', `The resource has no method ${request.method}`, {
      headers: { Allow: allowed.join(', ') },
    });
  }
}

/** The path as the router reads it: of an absolute-form target, what follows the authority. */
function pathOf(request: ApiRequest): string {
  const target = request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const end = target.search(/[?#]/);
  return end === -1 ? target : target.slice(0, end);
}
