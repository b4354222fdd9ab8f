import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { DocsAssets } from './docs.assets.js';
import { memoizeAsync } from './memoize-async.js';
import { StaticAsset } from './static-asset.js';

const TEMPLATES = new URL('page/', import.meta.url);
/** The build copies the guides, so that the folder is at the same relative path there. */
const GUIDES = new URL('../../docs/', import.meta.url);

/** The pages below `/docs`: the reference, and the guides of `docs/` that are readable beside it. */
@Injectable()
export class DocsPages {
  readonly reference = memoizeAsync(() => this.renderReference());
  private readonly titles: Readonly<Record<string, string>>;
  private readonly guides: ReadonlyMap<string, () => Promise<StaticAsset>>;

  constructor(
    private readonly assets: DocsAssets,
    config: Config,
  ) {
    const guides = {
      clients: 'For clients',
      ...(config.extensionGuide && { extending: 'Extending' }),
    };
    this.titles = guides;
    this.guides = new Map(
      Object.keys(guides).map((name) => [name, memoizeAsync(() => this.renderGuide(name))]),
    );
  }

  /** @returns undefined if there is no such guide */
  async guide(name: string): Promise<StaticAsset | undefined> {
    return this.guides.get(name)?.();
  }

  private async renderReference(): Promise<StaticAsset> {
    const guide = await readFile(new URL('clients.md', GUIDES), 'utf8');
    const explained = Array.from(guide.matchAll(/^### (\w+)$/gm), ([, code]) => code).join(' ');
    const main = await readFile(new URL('reference.html', TEMPLATES), 'utf8');
    return this.render('Pet Store API', '/docs', main, { explained });
  }

  private async renderGuide(name: string): Promise<StaticAsset> {
    const { toHtml } = await import('./markdown.js');
    const html = toHtml(
      await readFile(new URL(`${name}.md`, GUIDES), 'utf8'),
      Object.keys(this.titles),
    );
    const main = `<main class="guide">${html}</main>`;
    return this.render(`${this.titles[name]!} - Pet Store API`, `/docs/guides/${name}`, main);
  }

  private async render(
    title: string,
    path: string,
    main: string,
    values = {},
  ): Promise<StaticAsset> {
    const pages = {
      '/docs': 'Reference',
      ...Object.fromEntries(
        Object.entries(this.titles).map(([name, text]) => [`/docs/guides/${name}`, text]),
      ),
      '/openapi.json': 'JSON',
      '/openapi.yaml': 'YAML',
    };
    const links = Object.entries(pages).map(
      ([href, text]) =>
        `<a href="${href}"${href === path ? ' aria-current="page"' : ''}>${text}</a>`,
    );
    const all = {
      title,
      navigation: links.join(''),
      main,
      assets: await this.assets.path(),
      ...values,
    };
    let html = await readFile(new URL('page.html', TEMPLATES), 'utf8');
    for (const [key, value] of Object.entries(all))
      html = html.replaceAll(`{{${key}}}`, () => value);
    return new StaticAsset('text/html; charset=utf-8', html);
  }
}
