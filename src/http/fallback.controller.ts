import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { unserved } from './refusals.js';
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
    throw unserved(request, this.routes);
  }
}
