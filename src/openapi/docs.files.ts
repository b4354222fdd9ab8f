import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../config/public-address.js';
import { errors } from '../errors/errors.js';
import { StaticAsset } from './static-asset.js';

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** The files of the repository that callers and authors of extensions read, by name. */
const GUIDES = {
  clients: 'docs/clients.md',
  extending: 'docs/extending.md',
  typescript: 'clients/typescript/README.md',
};
/** Files that the guides link to. */
const FILES = {
  'petstore.http': 'text/plain; charset=utf-8',
  'petstore.postman_collection.json': 'application/json; charset=utf-8',
};
const EXAMPLE_ADDRESS = 'http://localhost:3000/v1';

export interface Guide {
  name: string;
  title: string;
  markdown: string;
}

/** The head of a page. */
const MASTHEAD = {
  name: 'Pet Store API',
  // What the search finds.
  contents: 'operations, codes and guides',
  // HTML.
  links: `
        <a href="/docs">Reference</a>
        <a href="/docs/guides/clients">For clients</a>
        <a href="/docs/guides/extending">Extending</a>
        <a href="/openapi.json">JSON</a>
        <a href="/openapi.yaml">YAML</a>`,
};
export type Masthead = typeof MASTHEAD;

/**
 * The files under `/docs`: the reference, the guides, and the scripts, styles and images of the
 * pages.
 */
@Injectable()
export class DocsFiles {
  private files: Promise<ReadonlyMap<string, StaticAsset>> | undefined;

  constructor(private readonly address: PublicAddress) {}

  /**
   * Reads all files on the first call.
   * @param path relative to `/docs/`; the reference has an empty path
   */
  async find(path: string) {
    this.files ??= this.load();
    return (await this.files).get(path);
  }

  guides() {
    return Promise.all(
      Object.entries(GUIDES).map(async ([name, path]) => {
        const markdown = linked(await this.textOf(path));
        return { name, title: /^# (.+)/.exec(markdown)![1]!, markdown };
      }),
    );
  }

  /**
   * Reads a file of the repository: the build copies it, so that it is at the same relative path
   * there. The base address of its examples becomes the one of this service.
   */
  private async textOf(path: string) {
    return (await readText(`../../${path}`)).replaceAll(EXAMPLE_ADDRESS, this.address.baseUrl);
  }

  private async load() {
    const files = new Map<string, StaticAsset>();
    const { resolve } = createRequire(import.meta.url);
    const folder = join(import.meta.dirname, 'page');
    const own = await readdir(folder);
    for (const path of [
      resolve('swagger-ui-dist/swagger-ui.css'),
      resolve('swagger-ui-dist/swagger-ui-bundle.js'),
      ...own.map((name) => join(folder, name)),
    ]) {
      files.set(`assets/${basename(path)}`, await StaticAsset.ofFile(path));
    }
    for (const guide of await this.guides()) {
      files.set(`guides/${guide.name}`, await guidePage(guide));
      files.set(`${guide.name}.md`, new StaticAsset(MARKDOWN, guide.markdown));
    }
    for (const [name, type] of Object.entries(FILES)) {
      files.set(name, new StaticAsset(type, await this.textOf(`clients/${name}`)));
    }
    // The guide for clients explains each of them.
    return files.set('', await referencePage(MASTHEAD, Object.keys(errors).join(' ')));
  }
}

/**
 * Makes the links of a guide lead to the files that the service serves. A link to any other file
 * of the repository becomes its text.
 */
function linked(markdown: string): string {
  return markdown.replace(
    /\[([^\]]+)\]\((?:\.\.\/)*([\w.-]+[/.][\w./-]+)(#[\w-]+)?\)/g,
    (_link, text: string, path: string, anchor = '') => {
      const name = basename(path);
      const guide = Object.entries(GUIDES).find(([, each]) => each.endsWith(path))?.[0];
      if (guide !== undefined) return `[${text}](${guide}.md${anchor})`;
      return name in FILES ? `[${text}](/docs/${name})` : text;
    },
  );
}

/** @param explained the error codes that a guide explains, with spaces between them */
export async function referencePage(masthead: Masthead, explained = '') {
  const main = fill(await readText('reference.html'), { explained });
  return page(masthead, masthead.name, '/docs', main);
}

async function guidePage({ name, title, markdown }: Guide) {
  const { toHtml } = await import('./markdown.js');
  const source = `<a class="source" href="/docs/${name}.md">Markdown</a>`;
  const main = `<main class="guide">${source}${toHtml(markdown)}</main>
    <script type="module" src="/docs/assets/guide.js"></script>`;
  return page(MASTHEAD, `${title} - ${MASTHEAD.name}`, `/docs/guides/${name}`, main);
}

async function page(
  { name, contents, links }: Masthead,
  title: string,
  path: string,
  main: string,
) {
  const marked = links.replace(`"${path}"`, '$& aria-current="page"');
  const values = { name, contents, links: marked, title, main };
  return new StaticAsset(HTML, fill(await readText('page.html'), values));
}

/** Replaces each `{{name}}` of a template. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (match, name: string) => values[name] ?? match);
}

function readText(path: string) {
  return readFile(join(import.meta.dirname, path), 'utf8');
}
