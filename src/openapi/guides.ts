import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { DocsAssets } from './docs.assets.js';
import { pageOf } from './docs.page.js';
import { Remembered } from './remembered.js';
import { Resource } from './resource.js';

/** The guides of `docs/` that are for readers of the page, as its navigation names them. */
const GUIDES: Record<string, string> = {
  clients: 'For clients',
  extending: 'Extending',
};
const HTML = 'text/html; charset=utf-8';
/** The build copies it, so that it is beside us there as well. */
const FOLDER = new URL('../../docs/', import.meta.url);

/** Guides of `docs/`, readable beside the reference. */
@Injectable()
export class Guides {
  private readonly pages = new Remembered<string, Resource | undefined>();

  constructor(private readonly assets: DocsAssets) {}

  page(name: string): Promise<Resource | undefined> {
    if (!Object.hasOwn(GUIDES, name)) return Promise.resolve(undefined);
    return this.pages.get(name, () => this.render(name));
  }

  /** The guides that are there, with their titles. */
  async titles(): Promise<Record<string, string>> {
    const there = await Promise.all(
      Object.entries(GUIDES).map(async (entry) => ((await sourceOf(entry[0])) ? [entry] : [])),
    );
    return Object.fromEntries(there.flat());
  }

  /** The error codes that the guide for clients says what to do about: those of extensions it does not know. */
  async explainedCodes(): Promise<string[]> {
    const source = (await sourceOf('clients')) ?? '';
    return [...source.matchAll(/^### (\w+)$/gm)].map(([, code]) => code!);
  }

  private async render(name: string): Promise<Resource | undefined> {
    const source = await sourceOf(name);
    if (source === undefined) return undefined;
    const { toHtml } = await import('./markdown.js');
    const main = `<main class="guide">${toHtml(source, Object.keys(GUIDES))}</main>`;
    const title = `${GUIDES[name]!} - Pet Store API`;
    const [assets, guides] = await Promise.all([this.assets.path(), this.titles()]);
    return Resource.ofText(HTML, pageOf({ assets, guides, title, main, current: name }));
  }
}

function sourceOf(name: string): Promise<string | undefined> {
  return readFile(new URL(`${name}.md`, FOLDER), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
}
