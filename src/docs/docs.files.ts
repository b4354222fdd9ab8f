import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type Files, filesIn } from './static-files.js';

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
/** The files of the repository that callers and authors of extensions read, by name. */
const GUIDES = {
  tutorial: 'docs/tutorial.md',
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

/** @param baseUrl of the API, in the examples too */
export function readGuides(baseUrl: string): Promise<Guide[]> {
  return Promise.all(
    Object.entries(GUIDES).map(async ([name, path]) => {
      const markdown = linked(await textOf(path, baseUrl));
      return { name, title: /^# (.+)/.exec(markdown)![1]!, markdown };
    }),
  );
}

/** The files that the guides link to. */
export async function linkedFiles(baseUrl: string): Promise<Files> {
  const files: Files = {};
  for (const [name, type] of Object.entries(FILES)) {
    files[`/docs/${name}`] = [type, await textOf(`clients/${name}`, baseUrl)];
  }
  return files;
}

/** Reads a file of the repository: the build copies it to the same relative path. */
async function textOf(path: string, baseUrl: string): Promise<string> {
  const text = await readFile(join(FOLDER, '../..', path), 'utf8');
  return text.replaceAll(EXAMPLE_ADDRESS, baseUrl);
}

/**
 * Makes the links of a guide lead to the files that the service serves. A link to any other file of
 * the repository becomes its text.
 */
function linked(markdown: string): string {
  return markdown.replace(
    /\[([^\]]+)\]\((?:\.\.\/)*([\w.-]+[/.][\w./-]+)(#[\w-]+)?\)/g,
    (_link, text: string, path: string, anchor = '') => {
      const name = basename(path);
      const guide = Object.entries(GUIDES).find(([, each]) => each.endsWith(path))?.[0];
      if (guide !== undefined) return `[${text}](/docs/${guide}.md${anchor})`;
      return name in FILES ? `[${text}](/docs/${name})` : text;
    },
  );
}

/** Each guide as a page and as Markdown. */
export async function guideFiles(masthead: Masthead, guides: readonly Guide[]): Promise<Files> {
  const { toHtml } = await import('./markdown.js');
  const files: Files = {};
  for (const { name, title, markdown } of guides) {
    const path = `/docs/guides/${name}`;
    const source = `<a class="source" href="/docs/${name}.md">Markdown</a>`;
    const main = `<main class="guide">${source}${toHtml(markdown)}</main>
    <script type="module" src="/docs/assets/guide.js"></script>`;
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
  // The copy that @nestjs/swagger has, so that there is one.
  const nest = createRequire(import.meta.url).resolve('@nestjs/swagger');
  const swagger = dirname(createRequire(nest).resolve('swagger-ui-dist/package.json'));
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
