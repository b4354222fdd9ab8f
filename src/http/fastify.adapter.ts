import { FastifyAdapter as NestFastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { isPagedResponse, nextPageUrl } from './paged-response.js';
import type { PublicAddress } from './public-address.js';
import { type ApiReply, appendHeader } from './request-context.js';
import { stringifyJson } from './stringify-json.js';
import { isApiTarget, pathOf } from './target.js';
import type { Transport } from './transport.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Nest's adapter on the transport of the service. It writes int64 values with every digit and adds `Link` to a page.
 * Libraries recognise the platform by the name of this class.
 */
export class FastifyAdapter extends NestFastifyAdapter {
  constructor(
    private readonly transport: Transport,
    private readonly address: PublicAddress,
  ) {
    super(transport.server);
    transport.server.setReplySerializer(stringifyJson);
  }

  /** A path under `/v1` without a route goes through the guards, as every other path does. */
  override setNotFoundHandler(): FastifyInstance {
    return this.transport.server.setNotFoundHandler((request, reply) =>
      this.transport.rejectUnrouted(undefined, request, reply),
    );
  }

  override reply(response: ApiReply, body: unknown, status?: number): ApiReply {
    if (isPagedResponse(body)) {
      if (body.next !== undefined) this.linkToNextPage(response, body);
      response.header('content-type', JSON_TYPE);
      return super.reply(response, body.json ?? stringifyJson(body.items), status);
    }
    return super.reply(response, body, status);
  }

  private linkToNextPage(response: ApiReply, page: Parameters<typeof nextPageUrl>[2]): void {
    const { raw, query } = response.request;
    const path = pathOf(raw.url!);
    const { baseUrl, origin } = this.address;
    // The base address contains the version segment.
    const url = isApiTarget(path) ? baseUrl + path.slice(path.indexOf('/', 1)) : origin + path;
    const next = nextPageUrl(url, query as Record<string, unknown>, page);
    appendHeader(response, 'link', `<${next}>; rel="next"`);
  }
}
