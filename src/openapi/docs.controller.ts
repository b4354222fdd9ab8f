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
import { type ApiReply, type ApiRequest, Public } from '../http/request-context.js';
import { DocsAssets } from './docs.assets.js';
import { referencePage } from './docs.page.js';
import { DocumentSource } from './document-source.js';
import { Guides } from './guides.js';
import { PageLimitGuard } from './page-limit.guard.js';
import { Remembered } from './remembered.js';
import { Resource } from './resource.js';

const A_YEAR = 'public, max-age=31536000, immutable';

/**
 * Swagger UI, the document that it shows, and the guides beside it. They are sent as they are, whatever the
 * interceptors of guests make of what others return.
 */
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class DocsController implements OnModuleInit {
  private readonly made = new Remembered<'reference' | 'json' | 'yaml', Resource>();

  constructor(
    private readonly document: DocumentSource,
    private readonly assets: DocsAssets,
    private readonly guides: Guides,
    private readonly address: PublicAddress,
    private readonly config: Config,
    private readonly host: HttpAdapterHost,
    private readonly limit: PageLimitGuard,
  ) {}

  /** Nest takes the slash off a path, and the service does not serve one resource at two. */
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
    const page = await this.made.get('reference', () => this.renderReference());
    return this.page(page, request, reply);
  }

  @Get('docs/guides/:guide')
  async guide(@Param('guide') name: string, @Req() request: ApiRequest, @Res() reply: ApiReply) {
    const guide = await this.guides.page(name);
    if (guide === undefined) throw notFound();
    return this.page(guide, request, reply);
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
    // While nodes are updated one by one, a page of another version may ask: ours will do, for now.
    const isCurrent = version === (await this.assets.version());
    reply.header('cache-control', isCurrent ? A_YEAR : 'no-store');
    return asset.send(request, reply);
  }

  @Get('openapi.json')
  @Header('cache-control', 'no-cache')
  async openapiJson(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    const json = await this.made.get('json', async () =>
      Resource.ofText('application/json; charset=utf-8', this.document.json()),
    );
    return json.send(request, reply);
  }

  @Get('openapi.yaml')
  @Header('cache-control', 'no-cache')
  async openapiYaml(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    const yaml = await this.made.get('yaml', async () =>
      Resource.ofText('application/yaml; charset=utf-8', await this.document.yaml()),
    );
    return yaml.send(request, reply);
  }

  private async renderReference(): Promise<Resource> {
    const [assets, guides, explained] = await Promise.all([
      this.assets.path(),
      this.guides.titles(),
      this.guides.explainedCodes(),
    ]);
    const page = referencePage({ assets, guides }, explained);
    return Resource.ofText('text/html; charset=utf-8', page);
  }

  private page(page: Resource, request: ApiRequest, reply: ApiReply) {
    reply.headers({
      'content-security-policy': this.contentSecurityPolicy(),
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    });
    return page.send(request, reply);
  }

  /** Everything comes from here, and only the servers of the document can be called. */
  private contentSecurityPolicy(): string {
    const servers = [this.address.baseUrl, this.config.stagingBaseUrl ?? []].flat();
    const origins = [...new Set(servers.map((url) => new URL(url).origin))].join(' ');
    return (
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      `connect-src 'self' ${origins}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
    );
  }
}
