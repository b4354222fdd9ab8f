import { Controller, Get, Redirect, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController, type OpenAPIObject } from '@nestjs/swagger';
import { Config } from '../core/config/config.js';
import { PublicAddress } from '../core/config/public-address.js';
import { errors, notFound } from '../core/errors/errors.js';
import { Public } from '../core/http/public.decorator.js';
import type { ApiReply } from '../core/http/request.js';
import { Clock } from '../core/time/clock.js';
import { apiCatalog, llmsText, securityText } from './discovery.js';
import {
  guideFiles,
  linkedFiles,
  type Masthead,
  readGuides,
  referenceFiles,
} from './docs.files.js';
import { DocumentSource } from './document.js';
import { pageHeaders } from './page-headers.js';
import { PageLimitGuard } from './page-limit.guard.js';
import { type Files, StaticFiles } from './static-files.js';

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const LINK_SET =
  'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"; charset=utf-8';
const MASTHEAD: Masthead = {
  name: 'Pet Store API',
  contents: 'operations, codes and guides',
  links: `
        <a href="/docs">Reference</a>
        <a href="/docs/guides/tutorial">First hour</a>
        <a href="/docs/guides/clients">For clients</a>
        <a href="/docs/guides/extending">Extending</a>
        <a href="/openapi.json">JSON</a>
        <a href="/openapi.yaml">YAML</a>`,
};

/**
 * Swagger UI, the guides, the document, and files that lead programs to them. Sends its responses
 * itself: interceptors of extensions do not change them.
 */
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class DocsController {
  private readonly files = new StaticFiles(() => this.load());

  constructor(
    private readonly document: DocumentSource,
    private readonly address: PublicAddress,
    private readonly config: Config,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Redirect('/docs', 302)
  root(): void {}

  @Get([
    'docs',
    'docs/*path',
    'openapi.json',
    'openapi.yaml',
    'llms.txt',
    '.well-known/api-catalog',
  ])
  docsFile(@Res() reply: ApiReply): Promise<void> {
    const servers = [this.address.baseUrl, this.config.stagingBaseUrl ?? []].flat();
    return this.files.send(reply, {
      ...pageHeaders(servers.map((url) => new URL(url).origin)),
      link: `<${this.address.origin}/.well-known/api-catalog>; rel="api-catalog"`,
    });
  }

  @Get('.well-known/security.txt')
  securityTxt(@Res() reply: ApiReply): void {
    const { securityContact } = this.config;
    if (securityContact === undefined) throw notFound();
    const text = securityText(securityContact, this.address.origin, this.clock.now());
    void reply.type(PLAIN_TEXT).send(text);
  }

  private async load(): Promise<Files> {
    const { baseUrl, origin } = this.address;
    const guides = await readGuides(baseUrl);
    const json = this.document.json();
    const llms = llmsText(JSON.parse(json) as OpenAPIObject, origin, guides);
    return {
      // The guide for clients explains each of the codes.
      ...(await referenceFiles(MASTHEAD, Object.keys(errors).join(' '))),
      ...(await guideFiles(MASTHEAD, guides)),
      ...(await linkedFiles(baseUrl)),
      '/openapi.json': ['application/json; charset=utf-8', json],
      '/openapi.yaml': ['application/yaml; charset=utf-8', await this.document.yaml()],
      '/llms.txt': [PLAIN_TEXT, llms],
      '/.well-known/api-catalog': [LINK_SET, apiCatalog(baseUrl, origin, guides)],
    };
  }
}
