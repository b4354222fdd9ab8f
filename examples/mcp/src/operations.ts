import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { stringifyJson } from 'pet-store-service';

/** What is used of the request to `POST /v1/mcp`. */
export interface CallerRequest {
  id: string;
  ip: string;
  raw: { socket: { remoteAddress?: string } };
  headers: Record<string, string>;
  body: unknown;
}

export interface OperationRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: unknown;
}

interface OperationResponse {
  statusCode: number;
  headers: { link?: string; 'retry-after'?: string };
  body: string;
}

interface Fastify {
  inject(request: object): Promise<OperationResponse>;
}

/**
 * Calls operations of the service in this process. A call passes everything that a request from
 * outside passes: key, quota, scopes, validation, idempotency, log and metrics.
 */
@Injectable()
export class Operations {
  constructor(private readonly host: HttpAdapterHost) {}

  /** @param caller the request whose API key, address and request ID the call has */
  call({ method, url, headers, body }: OperationRequest, caller: CallerRequest) {
    headers['x-request-id'] = caller.id;
    headers.authorization = caller.headers.authorization!;
    if (body !== undefined) headers['content-type'] = 'application/json';
    // Exact for every int64, unlike JSON.stringify.
    const payload = body === undefined ? undefined : stringifyJson(body);
    const fastify = this.host.httpAdapter.getInstance<Fastify>();
    // An entry of X-Forwarded-For may be any text.
    const remoteAddress = isIP(caller.ip) === 0 ? caller.raw.socket.remoteAddress : caller.ip;
    return fastify.inject({ method, url, headers, payload, remoteAddress });
  }
}
