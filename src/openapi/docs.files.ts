import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { StaticAsset } from './static-asset.js';

const CONTENT_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * The files under `/docs`: the reference, the guides, and the scripts, styles and images of the
 * pages.
 */
@Injectable()
export class DocsFiles {
  private readonly guides: readonly string[];
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  constructor({ extensionGuide }: Config) {
    this.guides = extensionGuide ? ['clients', 'extending'] : ['clients'];
  }

  /**
   * Reads all files on the first call.
   * @param path relative to `/docs/`; the reference has an empty path
   */
  async find(path: string): Promise<StaticAsset | undefined> {
    this.files ??= this.load();
    return (await this.files).get(path);
  }

  private async load(): Promise<ReadonlyMap<string, StaticAsset>> {
    const files = new Map<string, StaticAsset>();
    const { resolve } = createRequire(import.meta.url);
    const own = await readdir(new URL('page', import.meta.url));
    for (const path of [
      ...SWAGGER_UI_FILES.map((name) => resolve(`swagger-ui-dist/${name}`)),
      ...own.map((name) => fileURLToPath(new URL(`page/${name}`, import.meta.url))),
    ]) {
      const asset = new StaticAsset(CONTENT_TYPES[extname(path)]!, await readFile(path));
      files.set(`assets/${basename(path)}`, asset);
    }
    for (const name of this.guides) files.set(`guides/${name}`, await this.guidePage(name));
    return files.set('', await this.referencePage());
  }

  private async referencePage(): Promise<StaticAsset> {
    const codes = (await readText('../../docs/clients.md')).matchAll(/^### (\w+)$/gm);
    const explained = Array.from(codes, ([, code]) => code).join(' ');
    const main = (await readText('reference.html')).replace('{{explained}}', explained);
    return this.page('Pet Store API', '/docs', main);
  }

  /** The build copies the guides, so that the folder is at the same relative path there. */
  private async guidePage(name: string): Promise<StaticAsset> {
    const { toHtml } = await import('./markdown.js');
    const html = toHtml(await readText(`../../docs/${name}.md`), this.guides);
    const [, title = name] = /<h1[^>]*>([^<]*)/.exec(html) ?? [];
    const main = `<main class="guide">${html}</main>`;
    return this.page(`${title.trim()} - Pet Store API`, `/docs/guides/${name}`, main);
  }

  private async page(title: string, path: string, main: string): Promise<StaticAsset> {
    let html = await readText('page.html');
    if (!this.guides.includes('extending')) html = html.replace(/^.*guides\/extending.*\n/m, '');
    html = html
      .replace('{{title}}', title)
      .replace(`<a href="${path}">`, `<a href="${path}" aria-current="page">`)
      .replace('{{main}}', () => main);
    return new StaticAsset('text/html; charset=utf-8', html);
  }
}

function readText(path: string): Promise<string> {
  return readFile(new URL(path, import.meta.url), 'utf8');
}
