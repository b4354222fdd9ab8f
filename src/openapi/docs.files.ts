import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { errors } from '../errors/errors.js';
import { StaticAsset } from './static-asset.js';

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'];
/** Files of `docs` that callers and authors of extensions read, without extension. */
const GUIDES = ['clients', 'extending'];

export interface Guide {
  name: string;
  title: string;
  markdown: string;
}

/**
 * The files under `/docs`: the reference, the guides, and the scripts, styles and images of the
 * pages.
 */
@Injectable()
export class DocsFiles {
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  /**
   * Reads all files on the first call.
   * @param path relative to `/docs/`; the reference has an empty path
   */
  async find(path: string): Promise<StaticAsset | undefined> {
    this.files ??= this.load();
    return (await this.files).get(path);
  }

  /** The build copies the guides, so that the folder is at the same relative path there. */
  guides(): Promise<Guide[]> {
    return Promise.all(
      GUIDES.map(async (name) => {
        const markdown = await readText(`../../docs/${name}.md`);
        return { name, title: /^# (.+)/.exec(markdown)![1]!, markdown };
      }),
    );
  }

  private async load(): Promise<ReadonlyMap<string, StaticAsset>> {
    const files = new Map<string, StaticAsset>();
    const { resolve } = createRequire(import.meta.url);
    const folder = join(import.meta.dirname, 'page');
    const own = await readdir(folder);
    for (const path of [
      ...SWAGGER_UI_FILES.map((name) => resolve(`swagger-ui-dist/${name}`)),
      ...own.map((name) => join(folder, name)),
    ]) {
      files.set(`assets/${basename(path)}`, await StaticAsset.ofFile(path));
    }
    for (const guide of await this.guides()) {
      files.set(`guides/${guide.name}`, await this.guidePage(guide));
      files.set(`${guide.name}.md`, new StaticAsset(MARKDOWN, guide.markdown));
    }
    return files.set('', await this.referencePage());
  }

  private async referencePage(): Promise<StaticAsset> {
    const template = await readText('reference.html');
    // The guide for clients explains each of them.
    const main = template.replace('{{explained}}', Object.keys(errors).join(' '));
    return this.page('Pet Store API', '/docs', main);
  }

  private async guidePage({ name, title, markdown }: Guide): Promise<StaticAsset> {
    const { toHtml } = await import('./markdown.js');
    const source = `<a class="source" href="/docs/${name}.md">Markdown</a>`;
    const main = `<main class="guide">${source}${toHtml(markdown)}</main>`;
    return this.page(`${title} - Pet Store API`, `/docs/guides/${name}`, main);
  }

  private async page(title: string, path: string, main: string): Promise<StaticAsset> {
    const template = await readText('page.html');
    const html = template
      .replace('{{title}}', title)
      .replace(`<a href="${path}">`, `<a href="${path}" aria-current="page">`)
      .replace('{{main}}', () => main);
    return new StaticAsset(HTML, html);
  }
}

function readText(path: string): Promise<string> {
  return readFile(join(import.meta.dirname, path), 'utf8');
}
