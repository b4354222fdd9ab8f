import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get, Header, Param, Redirect, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import swaggerUiPath from 'swagger-ui-dist/absolute-path.js';
import { notFound } from '../http/api-error.js';
import { Public } from '../http/public.decorator.js';
import type { ApiReply } from '../http/request-context.js';
import { DocumentSource } from './document-source.js';
import { INITIALIZER, PAGE } from './docs.page.js';

const SCRIPT = 'text/javascript; charset=utf-8';
const CONTENT_TYPES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
};
/** Everything comes from here, so that the page works without a network and lets nothing else in. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "connect-src 'self' http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Swagger UI, and the document that it shows. */
@Public()
@ApiExcludeController()
@Controller()
export class DocsController {
  private readonly assets = new Map<string, Promise<Buffer>>();

  constructor(private readonly document: DocumentSource) {}

  @Get()
  @Redirect('/docs', 302)
  root(): void {}

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', CONTENT_SECURITY_POLICY)
  @Header('x-content-type-options', 'nosniff')
  @Header('referrer-policy', 'no-referrer')
  @Header('cache-control', 'no-cache')
  page(): string {
    return PAGE;
  }

  @Get('docs/initializer.js')
  @Header('content-type', SCRIPT)
  @Header('cache-control', 'no-cache')
  initializer(): string {
    return INITIALIZER;
  }

  @Get('docs/:asset')
  @Header('cache-control', 'public, max-age=86400')
  @Header('x-content-type-options', 'nosniff')
  async asset(
    @Param('asset') name: string,
    @Res({ passthrough: true }) reply: ApiReply,
  ): Promise<Buffer> {
    if (!Object.hasOwn(CONTENT_TYPES, name)) throw notFound();
    let asset = this.assets.get(name);
    if (asset === undefined) {
      asset = readFile(join(swaggerUiPath(), name));
      this.assets.set(name, asset);
    }
    reply.type(CONTENT_TYPES[name]!);
    return asset;
  }

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  json(): string {
    return this.document.json();
  }

  @Get('openapi.yaml')
  @Header('content-type', 'application/yaml; charset=utf-8')
  yaml(): Promise<string> {
    return this.document.yaml();
  }
}
