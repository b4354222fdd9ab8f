import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Controller, Get, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { notFound } from '../errors/errors.js';
import { Public } from '../http/public.decorator.js';
import type { ApiReply } from '../http/request.js';
import { pathOf } from '../http/target.js';
import { Scopes } from '../keys/scopes.js';
import { DocsFiles, fill, type Masthead, referencePage } from '../openapi/docs.files.js';
import { DocumentSource } from '../openapi/document.js';
import { pageHeaders } from '../openapi/page-headers.js';
import { PageLimitGuard } from '../openapi/page-limit.guard.js';
import { StaticAsset } from '../openapi/static-asset.js';
import { Plans } from '../rate-limits/plan.js';

const HEADERS = { ...pageHeaders(), 'cross-origin-opener-policy': 'same-origin' };
const FOLDER = join(import.meta.dirname, 'console');
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
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  constructor(
    private readonly scopes: Scopes,
    private readonly plans: Plans,
    private readonly docs: DocsFiles,
    private readonly document: DocumentSource,
  ) {}

  @Get(['', 'docs', 'openapi.json', 'console/:name', 'docs/assets/:name'])
  async consoleFile(@Res() reply: ApiReply) {
    this.files ??= this.load();
    // The target `http://host` has no path.
    const path = pathOf(reply.request.url) || '/';
    // The assets of the page of `/docs` are those of the public port.
    const asset = /^\/docs\/(assets\/.+)/.exec(path)?.[1];
    const file = (await this.files).get(path) ?? (asset && (await this.docs.find(asset)));
    if (!file) throw notFound();
    file.send(reply.headers(HEADERS));
  }

  /** Reads the files once, for the first request. */
  private async load(): Promise<ReadonlyMap<string, StaticAsset>> {
    // The console offers the plans and scopes of this server.
    const plans = this.plans.names.join(' ');
    const scopes = Object.keys(this.scopes.declared).join(' ');
    const json = new StaticAsset('application/json; charset=utf-8', this.document.json());
    const files = new Map([
      ['/openapi.json', json],
      ['/docs', await referencePage(MASTHEAD)],
    ]);
    for (const name of await readdir(FOLDER)) {
      const asset = await StaticAsset.ofFile(join(FOLDER, name), (text) =>
        fill(text, { plans, scopes }),
      );
      files.set(name === 'index.html' ? '/' : `/console/${name}`, asset);
    }
    return files;
  }
}
