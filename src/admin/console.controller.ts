import { join } from 'node:path';
import { Controller, Get, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Public } from '../core/http/public.decorator.js';
import type { ApiReply } from '../core/http/request.js';
import { AUDIT_ACTIONS } from '../core/keys/audit-record.entity.js';
import { Scopes } from '../core/keys/scopes.js';
import { fill, type Masthead, referenceFiles } from '../docs/docs.files.js';
import { DocumentSource } from '../docs/document.js';
import { pageHeaders } from '../docs/page-headers.js';
import { PageLimitGuard } from '../docs/page-limit.guard.js';
import { type Files, filesIn, StaticFiles } from '../docs/static-files.js';
import { Plans } from '../core/rate-limits/plan.js';

const HEADERS = { ...pageHeaders(), 'cross-origin-opener-policy': 'same-origin' };
const MASTHEAD: Masthead = {
  name: 'Pet Store admin API',
  contents: 'operations and codes',
  links: `
        <a href="/">Console</a>
        <a href="/docs">Reference</a>
        <a href="/openapi.json">JSON</a>`,
};

/** The console, and the document of the admin API. They are static, and need no token. */
@Public()
@UseGuards(PageLimitGuard)
@ApiExcludeController()
@Controller()
export class ConsoleController {
  private readonly files = new StaticFiles(() => this.load());

  constructor(
    private readonly scopes: Scopes,
    private readonly plans: Plans,
    private readonly document: DocumentSource,
  ) {}

  @Get(['', 'docs', 'openapi.json', 'console/:name', 'docs/assets/:name'])
  consoleFile(@Res() reply: ApiReply): Promise<void> {
    return this.files.send(reply, HEADERS);
  }

  private async load(): Promise<Files> {
    const files = await filesIn(join(import.meta.dirname, 'console'), '/console');
    const [type, html] = files['/console/index.html']!;
    // The console offers the plans and scopes of this server.
    const { declared, defaults } = this.scopes;
    const plans = optionsOf(this.plans.names);
    const scopes = Object.keys(declared).map((scope) => {
      const checked = defaults.includes(scope) ? ' checked' : '';
      const box = `<input type="checkbox" name="scopes" value="${scope}"${checked} />`;
      return `<label class="check">${box}${scope}</label>`;
    });
    const values = { plans, scopes: scopes.join(''), actions: optionsOf(AUDIT_ACTIONS) };
    return {
      ...files,
      '': [type, fill(html, values)],
      ...(await referenceFiles(MASTHEAD)),
      '/openapi.json': ['application/json; charset=utf-8', this.document.json()],
    };
  }
}

function optionsOf(names: readonly string[]): string {
  return names.map((name) => `<option>${name}</option>`).join('');
}
