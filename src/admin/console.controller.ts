import { Controller, Get, Param, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { notFound } from '../errors/errors.js';
import { OnAdminPort } from '../http/admin-port.js';
import { Public } from '../http/public.decorator.js';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { DocsFiles } from '../openapi/docs.files.js';
import { DocumentSource } from '../openapi/document.js';
import { PageLimitGuard } from '../openapi/page-limit.guard.js';
import { StaticAsset } from '../openapi/static-asset.js';
import { ConsoleFiles } from './console.files.js';

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** The console, and the document of the admin API. They are static, and need no token. */
@OnAdminPort()
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class ConsoleController {
  private json: StaticAsset | undefined;

  constructor(
    private readonly console: ConsoleFiles,
    private readonly docs: DocsFiles,
    private readonly document: DocumentSource,
  ) {}

  @Get(['', 'console/:name'])
  async consoleFile(
    @Param('name') name: string | undefined,
    @Req() request: ApiRequest,
    @Res() reply: ApiReply,
  ) {
    return send(await this.console.find(name ?? 'index.html'), request, reply);
  }

  @Get(['docs', 'docs/*'])
  async adminDocsFile(
    @Param('*') path: string | undefined,
    @Req() request: ApiRequest,
    @Res() reply: ApiReply,
  ) {
    return send(await this.docs.find(path ?? ''), request, reply);
  }

  @Get('openapi.json')
  adminOpenapiJson(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    this.json ??= new StaticAsset('application/json; charset=utf-8', this.document.adminJson());
    return send(this.json, request, reply);
  }
}

function send(file: StaticAsset | undefined, request: ApiRequest, reply: ApiReply) {
  if (file === undefined) throw notFound();
  reply.headers(HEADERS);
  return file.send(request, reply);
}
