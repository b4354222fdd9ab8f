import { type ParsedUrlQuery, stringify } from 'node:querystring';
import { HttpException } from '@nestjs/common';
import { FastifyAdapter as NestFastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { toApiError } from '../errors/to-api-error.js';
import { type ApiReply, appendHeader, isApiRoute } from './request.js';
import { isPage, type PageBody, stringifyJson } from './stringify-json.js';
import { pathOf } from './target.js';
import type { Transport } from './transport.js';

/** The Error body for what Nest's `BaseExceptionFilter` sends: filters of extensions extend it. */
function sentBody(body: unknown, status = 200): unknown {
  if (status < 400) return body;
  if ((body as { statusCode?: unknown } | undefined)?.statusCode !== status) return body;
  return toApiError(new HttpException(body as object, status)).getResponse();
}

/**
 * Nest's adapter on the transport of the service. Responses have every digit of an int64, and a
 * page has a `Link` (RFC 8288) to the next one. Libraries recognise the platform by the name of
 * this class.
 */
export class FastifyAdapter extends NestFastifyAdapter {
  constructor(private readonly transport: Transport) {
    super(transport.server);
    transport.server.setReplySerializer(stringifyJson);
  }

  override setNotFoundHandler(): FastifyInstance {
    return this.transport.server.setNotFoundHandler((request, reply) =>
      this.transport.rejectUnrouted(request, reply),
    );
  }

  override reply(reply: ApiReply, body: unknown, status?: number): ApiReply {
    if (isPage(body) && body.next !== undefined) this.linkToNext(reply, body);
    return super.reply(reply, sentBody(body, status), status);
  }

  /** The URL has the query of this request, with an explicit limit and the next cursor. */
  private linkToNext(reply: ApiReply, { size, next }: PageBody): void {
    const { request } = reply;
    const { baseUrl, origin } = this.transport.address;
    const query = stringify({ ...(request.query as ParsedUrlQuery), limit: size, cursor: next });
    const path = pathOf(request.url);
    // The base address contains the version segment.
    const url = isApiRoute(request) ? baseUrl + path.slice(path.indexOf('/', 1)) : origin + path;
    appendHeader(reply, 'link', `<${url}?${query}>; rel="next"`);
  }
}
