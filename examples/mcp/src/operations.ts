import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiError, type ErrorBody, stringifyJson } from 'pet-store-service';

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

  /**
   * Reads the body of a GET.
   * @throws the error of the operation, such as a limit that is used up
   */
  async read(url: string, caller: CallerRequest): Promise<string> {
    const { statusCode, headers, body } = await this.call(
      { method: 'GET', url, headers: {} },
      caller,
    );
    if (statusCode === 200) return body;
    const error = JSON.parse(body) as ErrorBody;
    const options = { headers: { 'Retry-After': headers['retry-after'] ?? '1' } };
    throw new ApiError(error, error.message, options);
  }

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
