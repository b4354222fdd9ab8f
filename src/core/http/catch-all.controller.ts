import { All, Controller, Req } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { ApiRequest } from './request.js';
import { Transport } from './transport.js';

/**
 * Rejects every request under `/v1` that has no operation. As an ordinary route it runs the guards,
 * so that a caller without a key cannot probe for paths.
 */
@Controller()
@ApiExcludeController()
export class CatchAllController {
  constructor(private readonly transport: Transport) {}

  @All(['', '*'])
  unknown(@Req() request: ApiRequest): never {
    throw this.transport.routes.rejectionOf(request);
  }
}
