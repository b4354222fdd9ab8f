import {
  Controller,
  Get,
  Header,
  type OnModuleInit,
  Param,
  Redirect,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { Config } from '../config/config.js';
import { notFound } from '../errors/errors.js';
import { PublicAddress } from '../http/public-address.js';
import { Public } from '../http/public.decorator.js';
import { type ApiReply, type ApiRequest } from '../http/request-context.js';
import { DocsAssets } from './docs.assets.js';
import { DocsPages } from './docs.pages.js';
import { DocumentSource } from './document-source.js';
import { memoizeAsync } from './memoize-async.js';
import { PageLimitGuard } from './page-limit.guard.js';
import { StaticAsset } from './static-asset.js';

const ONE_YEAR = 'public, max-age=31536000, immutable';

/** Swagger UI, the document and the guides. Sends its responses itself: interceptors of extensions do not change them. */
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class DocsController implements OnModuleInit {
  private readonly json = memoizeAsync(() => this.render('json'));
  private readonly yaml = memoizeAsync(() => this.render('yaml'));

  constructor(
    private readonly document: DocumentSource,
    private readonly assets: DocsAssets,
    private readonly pages: DocsPages,
    private readonly address: PublicAddress,
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly limit: PageLimitGuard,
  ) {}

  /** Nest removes the slash at the end of a path, so this route is Fastify's. */
  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.get('/docs/', async (request, reply) => {
      await this.limit.admit(request);
      return reply.redirect('/docs', 308);
    });
  }

  @Get()
  @Redirect('/docs', 302)
  root(): void {}

  @Get('docs')
  async referencePage(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    return this.sendPage(await this.pages.reference(), request, reply);
  }

  @Get('docs/guides/:guide')
  async guide(@Param('guide') name: string, @Req() request: ApiRequest, @Res() reply: ApiReply) {
    const guide = await this.pages.guide(name);
    if (guide === undefined) throw notFound();
    return this.sendPage(guide, request, reply);
  }

  @Get('docs/assets/:version/:asset')
  async asset(
    @Param('version') version: string,
    @Param('asset') name: string,
    @Req() request: ApiRequest,
    @Res() reply: ApiReply,
  ) {
    const asset = await this.assets.find(name);
    if (asset === undefined) throw notFound();
    // During an update, the page of one node may ask another node for the assets of another version.
    const isCurrent = version === (await this.assets.version());
    reply.header('cache-control', isCurrent ? ONE_YEAR : 'no-store');
    return asset.send(request, reply);
  }

  @Get('openapi.json')
  @Header('cache-control', 'no-cache')
  async openapiJson(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    return (await this.json()).send(request, reply);
  }

  @Get('openapi.yaml')
  @Header('cache-control', 'no-cache')
  async openapiYaml(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    return (await this.yaml()).send(request, reply);
  }

  private async render(format: 'json' | 'yaml'): Promise<StaticAsset> {
    const text = await this.document[format]();
    return new StaticAsset(`application/${format}; charset=utf-8`, text);
  }

  private sendPage(page: StaticAsset, request: ApiRequest, reply: ApiReply) {
    reply.headers({
      'content-security-policy': this.contentSecurityPolicy(),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    return page.send(request, reply);
  }

  /** The page loads from its own origin only, and calls only the servers of the document. */
  private contentSecurityPolicy(): string {
    const servers = [this.address.baseUrl, this.config.stagingBaseUrl ?? []].flat();
    const origins = [...new Set(servers.map((url) => new URL(url).origin))].join(' ');
    return (
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      `connect-src 'self' ${origins}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    );
  }
}
