import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { notFound } from '../errors/errors.js';
import { OnAdminPort } from '../http/admin-port.js';
import { Public } from '../http/public.decorator.js';
import type { ApiReply, ApiRequest } from '../http/request-context.js';
import { pathOf } from '../http/target.js';
import { PageLimitGuard } from '../openapi/page-limit.guard.js';
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
  constructor(private readonly files: ConsoleFiles) {}

  @Get(['', 'docs', 'openapi.json', 'console/:name', 'docs/assets/:name'])
  async consoleFile(@Req() request: ApiRequest, @Res() reply: ApiReply) {
    const file = await this.files.find(pathOf(request.url));
    if (file === undefined) throw notFound();
    file.send(request, reply.headers(HEADERS));
  }
}
