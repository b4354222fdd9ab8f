import { compile } from '@fastify/proxy-addr';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Config } from '../config/config.js';
import { errors } from '../errors/errors.js';
import { clientAddress } from '../http/client-address.js';
import { type ApiRequest, requestOf } from '../http/request.js';
import { Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';

/** Detects credentials that were sent without TLS, if clients must use an `https:` address. */
@Injectable()
export class InsecureRequests {
  private readonly count: Counter;
  private readonly isProxy: (address: string, hops: number) => boolean;

  constructor(
    { trustProxy, publicBaseUrl = '' }: Config,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    const isRequired = publicBaseUrl.startsWith('https:');
    this.isProxy = compile(isRequired && trustProxy ? trustProxy : []);
    this.count = metrics.counter({
      name: 'insecure_requests_total',
      help: 'Requests whose valid key or admin token was sent without TLS.',
    });
  }

  /**
   * A redirect would hide the fault: the client would send its key in the clear every time.
   * @param keyId the id of the valid key or token of the request
   * @throws {ApiError} 403 if a trusted proxy received the request without TLS
   */
  reject(request: ApiRequest, keyId: string): void {
    const { headers, socket } = request.raw;
    // Fastify's `protocol` is also `http` if no proxy has reported it. Some report `wss`.
    if (!('x-forwarded-proto' in headers) || /^(http|ws)s$/i.test(request.protocol)) return;
    if (!this.isProxy(socket.remoteAddress ?? '', 0)) return;
    this.count.inc();
    const line = { event: 'insecure', requestId: request.id, keyId };
    const message = 'A key or token was sent without TLS. Replace it, and use https:// addresses';
    this.logger.warn({ ...line, address: clientAddress(request) }, message);
    throw errors.https_required(
      'Use the https:// address, and replace this key or token: it was sent in the clear',
    );
  }
}

/** Rejects a valid key that was sent without TLS: 403 `https_required`. */
@Injectable()
export class HttpsGuard implements CanActivate {
  constructor(private readonly insecure: InsecureRequests) {}

  canActivate(context: ExecutionContext): true {
    const request = requestOf(context);
    if (request.caller) this.insecure.reject(request, request.caller.keyId);
    return true;
  }
}
