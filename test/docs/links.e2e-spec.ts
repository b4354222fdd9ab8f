import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { useService } from '../support/start-service.js';

const read = (file: string) => readFileSync(file, 'utf8');
/** Links in code are examples. */
const withoutCode = (markdown: string) => markdown.replace(/^```.*?^```|`[^`\n]*`/gms, '');

/** The targets of Markdown and HTML links, and of images. */
function linksOf(markdown: string): string[] {
  const found = withoutCode(markdown).matchAll(
    /\]\(<?([^)\s>]+)>?\)|<(https?:[^>]+)>|(?:href|src|srcset)="([^"]+)"/g,
  );
  return Array.from(found, ([, inline, automatic, html]) => (inline ?? automatic ?? html)!);
}

/** The anchors of headings, as GitHub and the pages of /docs make them. */
function anchorsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm);
  return Array.from(headings, ([, text]) =>
    text!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

const isOutside = (link: string) => /^(?:https?|mailto):/.test(link);

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'GOVERNANCE.md', 'ROADMAP.md'],
  ...[
    'docs',
    'docs/decisions',
    'clients/typescript',
    ...readdirSync('examples').map((name) => join('examples', name)),
  ]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((file) => file.endsWith('.md')),
];

describe('the links of the documentation', () => {
  it.each(DOCUMENTS)('resolve in %s', (document) => {
    const broken = linksOf(read(document)).filter((link) => {
      if (isOutside(link)) return !URL.canParse(link);
      const [path, anchor] = link.split('#');
      const target = path === '' ? document : normalize(join(dirname(document), path!));
      if (!existsSync(target)) return true;
      return (
        anchor !== undefined &&
        !(statSync(target).isFile() && anchorsOf(read(target)).includes(anchor))
      );
    });
    expect(broken).toEqual([]);
  });
});

describe('the links of the documentation that the service serves', () => {
  const { service } = useService();

  it.each(['/llms.txt', '/docs/clients.md', '/docs/extending.md', '/docs/typescript.md'])(
    'resolve in %s',
    async (path) => {
      const client = service.anonymous();
      // The service listens on a port of its own, and its base address names it.
      const { origin } = new URL(
        /Base address: (\S+)/.exec((await client.get('/llms.txt')).text)![1]!,
      );
      const { text } = await client.get(path);
      const links = linksOf(text).map((link) => new URL(link, `${origin}${path}`));
      expect(links.length).toBeGreaterThan(0);
      for (const link of links.filter((each) => each.origin === origin)) {
        const { status, headers, text: target } = await client.get(link.pathname);
        expect([link.href, status]).toEqual([link.href, 200]);
        const anchor = link.hash.slice(1);
        if (anchor === '') continue;
        if (link.pathname === '/docs') {
          const { text: document } = await client.get('/openapi.json');
          expect(document).toContain(`"operationId": "${anchor.split('/').at(-1)!}"`);
        } else if (headers['content-type']!.startsWith('text/markdown')) {
          expect([link.href, anchorsOf(target)]).toEqual([
            link.href,
            expect.arrayContaining([anchor]),
          ]);
        }
      }
    },
  );
});
