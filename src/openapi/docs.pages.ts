import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DocsAssets } from './docs.assets.js';
import { memoizeAsync } from './memoize-async.js';
import { StaticAsset } from './static-asset.js';

/** The pages below `/docs`: the reference, and the guides of `docs/` that are readable beside it. */
@Injectable()
export class DocsPages {
  readonly reference = memoizeAsync(() => this.renderReference());
  private readonly guides: ReadonlyMap<string, () => Promise<StaticAsset>>;

  constructor(
    private readonly assets: DocsAssets,
    config: Config,
  ) {
    const names = ['clients', ...(config.extensionGuide ? ['extending'] : [])];
    this.guides = new Map(names.map((name) => [name, memoizeAsync(() => this.renderGuide(name))]));
  }

  /** @returns undefined if there is no such guide */
  async guide(name: string): Promise<StaticAsset | undefined> {
    return this.guides.get(name)?.();
  }

  private async renderReference(): Promise<StaticAsset> {
    const codes = (await readGuide('clients')).matchAll(/^### (\w+)$/gm);
    const explained = Array.from(codes, ([, code]) => code).join(' ');
    const main = (await readTemplate('reference')).replace('{{explained}}', explained);
    return this.render('Pet Store API', '/docs', main);
  }

  private async renderGuide(name: string): Promise<StaticAsset> {
    const { toHtml } = await import('./markdown.js');
    const html = toHtml(await readGuide(name), [...this.guides.keys()]);
    const [, title = name] = /<h1[^>]*>([^<]*)/.exec(html) ?? [];
    const main = `<main class="guide">${html}</main>`;
    return this.render(`${title.trim()} - Pet Store API`, `/docs/guides/${name}`, main);
  }

  private async render(title: string, path: string, main: string): Promise<StaticAsset> {
    const extending = this.guides.has('extending')
      ? '<a href="/docs/guides/extending">Extending</a>'
      : '';
    const values = { title, main, extending, assets: await this.assets.path() };
    let html = await readTemplate('page');
    for (const [name, value] of Object.entries(values)) {
      html = html.replaceAll(`{{${name}}}`, () => value);
    }
    const current = `<a href="${path}" aria-current="page">`;
    return new StaticAsset('text/html; charset=utf-8', html.replace(`<a href="${path}">`, current));
  }
}

function readTemplate(name: string): Promise<string> {
  return readFile(new URL(`${name}.html`, import.meta.url), 'utf8');
}

/** The build copies the guides, so that the folder is at the same relative path there. */
function readGuide(name: string): Promise<string> {
  return readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
}
