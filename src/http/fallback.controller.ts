import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { unserved } from './refusals.js';
import type { ApiRequest } from './request-context.js';
import { RouteTable } from './route-table.js';

/**
 * Answers every request under `/v1` that no operation answers. As an ordinary route it runs the guards, so that a
 * caller without a key cannot probe for paths.
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
