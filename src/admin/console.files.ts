import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Scopes } from '../keys/scopes.js';
import { DocsFiles } from '../openapi/docs.files.js';
import { DocumentSource } from '../openapi/document.js';
import { StaticAsset } from '../openapi/static-asset.js';
import { Plans } from '../rate-limits/plan.js';

const FOLDER = join(import.meta.dirname, 'console');
const PAGES: Record<string, string> = { 'index.html': '/', 'docs.html': '/docs' };
const JSON_TYPE = 'application/json; charset=utf-8';
const DOCS = '/docs/';

/** The files of the console and the document of the admin API, read on the first call. */
@Injectable()
export class ConsoleFiles {
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  constructor(
    private readonly scopes: Scopes,
    private readonly plans: Plans,
    private readonly docs: DocsFiles,
    private readonly document: DocumentSource,
  ) {}

  /** @param path of the request. The assets of the page of `/docs` are those of the public port. */
  async find(path: string): Promise<StaticAsset | undefined> {
    if (path.startsWith(DOCS)) return this.docs.find(path.slice(DOCS.length));
    this.files ??= this.load();
    return (await this.files).get(path);
  }

  private async load(): Promise<ReadonlyMap<string, StaticAsset>> {
    const json = new StaticAsset(JSON_TYPE, this.document.json(true));
    const files = new Map([['/openapi.json', json]]);
    for (const name of await readdir(FOLDER)) {
      const asset = await StaticAsset.ofFile(join(FOLDER, name), (text) => this.complete(text));
      files.set(PAGES[name] ?? `/console/${name}`, asset);
    }
    return files;
  }

  /** The page offers the plans and scopes of this server. */
  private complete(html: string): string {
    return html
      .replace('{{plans}}', this.plans.names.join(' '))
      .replace('{{scopes}}', Object.keys(this.scopes.declared).join(' '));
  }
}
