import { Injectable } from '@nestjs/common';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { RateLimiter } from '../rate-limits/rate-limiter.js';
import { Authenticator } from './authenticator.js';

/** Who are you, is there time, how much may you: the first judgements, for requests that reach no route. */
@Injectable()
export class Gatekeeper {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limiter: RateLimiter,
  ) {}

  /** @throws {ApiError} 401, 503 or 429; the headers are set either way */
  async judge(request: ApiRequest, reply: ApiReply): Promise<void> {
    await this.authenticator.authenticate(request, reply);
    await this.limiter.admit(request.quota!, reply);
  }
}
