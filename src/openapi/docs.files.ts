import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Files, filesIn } from './static-files.js';

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** Files of `docs` that callers and authors of extensions read, without extension. */
const GUIDES = ['clients', 'extending'];
const FOLDER = import.meta.dirname;

export interface Guide {
  name: string;
  title: string;
  markdown: string;
}

/** The head of a page. */
export interface Masthead {
  name: string;
  /** What the search finds. */
  contents: string;
  /** HTML. */
  links: string;
}

/** The build copies the guides, so that the folder is at the same relative path there. */
export function readGuides(): Promise<Guide[]> {
  return Promise.all(
    GUIDES.map(async (name) => {
      const markdown = await readFile(join(FOLDER, `../../docs/${name}.md`), 'utf8');
      return { name, title: /^# (.+)/.exec(markdown)![1]!, markdown };
    }),
  );
}

/** Each guide as a page and as Markdown. */
export async function guideFiles(masthead: Masthead, guides: readonly Guide[]): Promise<Files> {
  const { toHtml } = await import('./markdown.js');
  const files: Files = {};
  for (const { name, title, markdown } of guides) {
    const path = `/docs/guides/${name}`;
    const source = `<a class="source" href="/docs/${name}.md">Markdown</a>`;
    const main = `<main class="guide">${source}${toHtml(markdown)}</main>`;
    files[path] = await page(masthead, `${title} - ${masthead.name}`, path, main);
    files[`/docs/${name}.md`] = [MARKDOWN, markdown];
  }
  return files;
}

/**
 * Swagger UI with the document at `/openapi.json`, and the scripts, styles and images of all pages.
 * @param explained the error codes that a guide explains, with spaces between them
 */
export async function referenceFiles(masthead: Masthead, explained = ''): Promise<Files> {
  const swagger = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const main = fill(await readFile(join(FOLDER, 'reference.html'), 'utf8'), { explained });
  return {
    '/docs': await page(masthead, masthead.name, '/docs', main),
    ...(await filesIn(join(FOLDER, 'page'), '/docs/assets')),
    ...(await filesIn(swagger, '/docs/assets', ['swagger-ui.css', 'swagger-ui-bundle.js'])),
  };
}

async function page(
  { name, contents, links }: Masthead,
  title: string,
  path: string,
  main: string,
): Promise<Files[string]> {
  const marked = links.replace(`"${path}"`, '$& aria-current="page"');
  const template = await readFile(join(FOLDER, 'page.html'), 'utf8');
  return [HTML, fill(template, { name, contents, links: marked, title, main })];
}

/** Replaces each `{{name}}` of a template. */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (match, name: string) => values[name] ?? match);
}
