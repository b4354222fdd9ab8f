import type { ParsedUrlQuery } from 'node:querystring';
import { FastifyAdapter as NestFastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { createdPath } from './creates.decorator.js';
import { isPagedResponse, nextPageUrl, type PagedResponse } from './paged-response.js';
import type { PublicAddress } from '../config/public-address.js';
import { type ApiReply, appendHeader } from './request-context.js';
import { stringifyJson } from './stringify-json.js';
import { pathOf } from './target.js';
import type { Transport } from './transport.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Nest's adapter on the transport of the service. It writes int64 values with every digit, adds
 * `Link` to a page and `Location` to what `@Creates()` has created. Libraries recognise the
 * platform by the name of this class.
 */
export class FastifyAdapter extends NestFastifyAdapter {
  constructor(
    private readonly transport: Transport,
    private readonly address: PublicAddress,
  ) {
    super(transport.server);
    transport.server.setReplySerializer(stringifyJson);
  }

  override setNotFoundHandler(): FastifyInstance {
    return this.transport.server.setNotFoundHandler((request, reply) =>
      this.transport.rejectUnrouted(request, reply),
    );
  }

  override reply(response: ApiReply, body: unknown, status?: number): ApiReply {
    if ((status ?? response.statusCode) === 201) this.locate(response, body);
    const page = findIn(body, (part) => (isPagedResponse(part) ? part : undefined));
    if (page?.next !== undefined) this.linkToNextPage(response, page);
    if (page === undefined || page !== body) return super.reply(response, body, status);
    response.header('content-type', JSON_TYPE);
    return super.reply(response, page.json ?? stringifyJson(page.items), status);
  }

  private locate(response: ApiReply, body: unknown): void {
    const { createdAt } = response.routeOptions.config;
    if (createdAt === undefined) return;
    const base = isApi(response) ? this.address.baseUrl : this.address.origin;
    const path = findIn(body, (part) => createdPath(createdAt, part));
    if (path !== undefined) response.header('location', base + path);
  }

  private linkToNextPage(response: ApiReply, page: PagedResponse): void {
    const { url, query } = response.request;
    const path = pathOf(url);
    const { baseUrl, origin } = this.address;
    // The base address contains the version segment.
    const address = isApi(response) ? baseUrl + path.slice(path.indexOf('/', 1)) : origin + path;
    const next = nextPageUrl(address, query as ParsedUrlQuery, page);
    appendHeader(response, 'link', `<${next}>; rel="next"`);
  }
}

function isApi({ routeOptions }: ApiReply): boolean {
  return routeOptions.url?.startsWith('/v1/') === true;
}

/**
 * Searches a response, and the members of an envelope such as `{ data }` that an interceptor of an
 * extension has made.
 */
function findIn<Found>(body: unknown, find: (part: unknown) => Found | undefined) {
  const found = find(body);
  const isPlain = (body as object | null | undefined)?.constructor === Object;
  if (found !== undefined || !isPlain) return found;
  const inside = Object.values(body as object).map(find);
  return inside.find((each) => each !== undefined);
}
