import { Controller, Get, Param, Redirect, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import { Config } from '../config/config.js';
import { PublicAddress } from '../config/public-address.js';
import { notFound } from '../errors/errors.js';
import { Public } from '../http/public.decorator.js';
import type { ApiReply } from '../http/request.js';
import { Clock } from '../time/clock.js';
import { apiCatalog, llmsText, securityText } from './discovery.js';
import { DocsFiles } from './docs.files.js';
import { DocumentSource } from './document.js';
import { pageHeaders } from './page-headers.js';
import { PageLimitGuard } from './page-limit.guard.js';
import { StaticAsset } from './static-asset.js';

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const YAML = 'application/yaml; charset=utf-8';
const LINK_SET =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"; charset=utf-8';

/**
 * Swagger UI, the guides, the document, and files that lead programs to them. Sends its responses
 * itself: interceptors of extensions do not change them.
 */
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class DocsController {
  private descriptions: Promise<Record<string, StaticAsset>> | undefined;

  constructor(
    private readonly document: DocumentSource,
    private readonly files: DocsFiles,
    private readonly address: PublicAddress,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Redirect('/docs', 302)
  root(): void {}

  @Get(['docs', 'docs/*path'])
  async docsFile(@Param('path') path: string | undefined, @Res() reply: ApiReply) {
    const file = await this.files.find(path ?? '');
    if (file === undefined) throw notFound();
    const servers = [this.address.baseUrl, this.config.stagingBaseUrl ?? []].flat();
    reply.headers(pageHeaders(servers.map((url) => new URL(url).origin)));
    return file.send(reply);
  }

  @Get(['openapi.json', 'openapi.yaml', 'llms.txt', '.well-known/api-catalog'])
  async description(@Res() reply: ApiReply) {
    this.descriptions ??= this.load();
    const file = (await this.descriptions)[reply.request.routeOptions.url!]!;
    reply.header('link', `<${this.address.origin}/.well-known/api-catalog>; rel="api-catalog"`);
    return file.send(reply);
  }

  @Get('.well-known/security.txt')
  securityTxt(@Res() reply: ApiReply) {
    const { securityContact } = this.config;
    if (securityContact === undefined) throw notFound();
    const text = securityText(securityContact, this.address.origin, this.clock.now());
    return new StaticAsset(PLAIN_TEXT, text).send(reply);
  }

  /** Builds the document once, for the first request. */
  private async load() {
    const { baseUrl, origin } = this.address;
    const guides = await this.files.guides();
    const json = this.document.json();
    const llms = llmsText(JSON.parse(json) as OpenAPIObject, origin, guides);
    return {
      '/openapi.json': new StaticAsset('application/json; charset=utf-8', json),
      '/openapi.yaml': new StaticAsset(YAML, await this.document.yaml()),
      '/llms.txt': new StaticAsset(PLAIN_TEXT, llms),
      '/.well-known/api-catalog': new StaticAsset(LINK_SET, apiCatalog(baseUrl, origin, guides)),
    };
  }
}
