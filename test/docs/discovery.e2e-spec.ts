import { Controller, Get, Module } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { defineExtension, errors, Public } from '../../src/index.js';
import type { Answer } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

const ORIGIN = 'https://api.example.com';

@Public()
@Controller('opening-hours')
class OpeningHours {
  @Get()
  @ApiOperation({ operationId: 'getOpeningHours', summary: 'Get the opening hours' })
  get(): object {
    return {};
  }
}
@Module({ controllers: [OpeningHours] })
class HoursModule {}
const hours = defineExtension({ name: 'hours', compatibility: '^1.0.0', module: HoursModule });

interface Documented {
  info: { description: string };
  paths: Record<string, Record<string, { operationId: string; summary: string }>>;
}

describe('what programs that read documentation find', () => {
  let service: TestService;
  const get = (path: string, method = 'GET'): Promise<Answer> =>
    service.anonymous().send(path, { method });

  beforeAll(async () => {
    service = await startService({
      clock: new FakeClock(),
      extensions: [hours],
      env: {
        PUBLIC_BASE_URL: `${ORIGIN}/v1`,
        SECURITY_CONTACT: 'mailto:security@example.com',
      },
    });
  });
  afterAll(() => service.close());

  it('llms.txt has the description of the document and one line for each operation', async () => {
    const document = (await get('/openapi.json')).json() as Documented;
    const { headers, text } = await get('/llms.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const [, title, summary] = /^# (.+)\n\n> (.+)\n/.exec(text)!;
    expect([title, summary]).toEqual(['Pet Store', expect.any(String)]);
    expect(document.info.description).toContain(summary);
    expect(text).toContain(`\nBase address: ${ORIGIN}/v1\n`);
    const rows = document.info.description.split('\n').filter((line) => line.startsWith('| '));
    expect(rows.length).toBeGreaterThan(20);
    for (const row of rows) expect(text).toContain(`\n${row}\n`);

    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    for (const { operationId, summary } of operations) {
      const lines = text.split('\n').filter((line) => line.startsWith(`- [${operationId}](`));
      expect(lines).toEqual([expect.stringContaining(summary)]);
    }
    expect(text).toMatch(/^- \[listPets\]\(.*\): `GET https:\/\/api\.example\.com\/v1\/pets` /m);
    expect(text).toContain('`GET https://api.example.com/opening-hours` ');
    expect(text).toMatch(/^- \[getPet\].*\(deprecated\)$/m);
  });

  it.each(['tutorial', 'clients', 'extending', 'typescript'])(
    'the guide %s is the same as Markdown and as a page, and both as in the repository',
    async (name) => {
      const { status, headers, text } = await get(`/docs/${name}.md`);
      expect([status, headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
      const { text: page } = await get(`/docs/guides/${name}`);
      const headings = [...text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)];
      expect(headings.length).toBeGreaterThan(5);
      expect(page.match(/<h[1-6] id=/g)).toHaveLength(headings.length);
      expect((await get('/llms.txt')).text).toContain(`(${ORIGIN}/docs/${name}.md)`);
    },
  );

  it.each([
    ['text/markdown', 'markdown'],
    ['Text/Markdown, text/html, */*', 'markdown'],
    ['text/html;q=0.5, text/markdown;q=0.9', 'markdown'],
    ['text/html, text/markdown; q=0.9', 'html'],
    ['text/markdown;q=0', 'html'],
    ['text/markdownish', 'html'],
    ['*/*', 'html'],
    [undefined, 'html'],
  ])('a guide with Accept %j is %s', async (accept, type) => {
    const { status, headers, text } = await service
      .anonymous()
      .get('/docs/guides/clients', accept === undefined ? {} : { accept });
    expect([status, headers['content-type']]).toEqual([200, `text/${type}; charset=utf-8`]);
    expect(headers.vary).toMatch(/\bAccept\b(?!-)/);
    const other = type === 'html' ? '/docs/guides/clients' : '/docs/clients.md';
    expect(text).toBe((await get(other)).text);
  });

  it('the catalog of RFC 9727 links the base address to descriptions, documentation and status', async () => {
    const answer = await get('/.well-known/api-catalog');
    expect(answer.headers['content-type']).toMatch(
      /^application\/linkset\+json; *profile="https:\/\/www\.rfc-editor\.org\/info\/rfc9727"/,
    );
    const { linkset } = answer.json() as { linkset: Record<string, { href: string }[]>[] };
    expect(linkset).toHaveLength(1);
    expect(linkset[0]!['anchor']).toBe(`${ORIGIN}/v1`);
    for (const relation of ['service-desc', 'service-doc', 'status']) {
      for (const { href } of linkset[0]![relation]!) {
        expect(href.startsWith(`${ORIGIN}/`)).toBe(true);
        expect([href, (await get(href.slice(ORIGIN.length))).status]).toEqual([href, 200]);
      }
    }
    // Section 2: the response to HEAD names the catalog.
    const { headers } = await get('/.well-known/api-catalog', 'HEAD');
    expect(headers.link).toBe(`<${ORIGIN}/.well-known/api-catalog>; rel="api-catalog"`);
  });

  it('security.txt of RFC 9116 has a contact, and expires within a year', async () => {
    const { headers, text } = await get('/.well-known/security.txt');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(text).toBe(
      'Contact: mailto:security@example.com\n' +
        'Expires: 2026-07-15T12:00:30.000Z\n' +
        `Canonical: ${ORIGIN}/.well-known/security.txt\n`,
    );
  });

  it('security.txt is a 404 without SECURITY_CONTACT', async () => {
    await using plain = await startService();
    expectError(await plain.anonymous().get('/.well-known/security.txt'), 404, 'not_found');
  });

  it('a page names the document', async () => {
    for (const path of ['/docs', '/docs/guides/clients']) {
      const [link] = /<link[^>]* rel="service-desc"[^>]*>|<link rel="service-desc"[^>]*>/.exec(
        (await get(path)).text,
      )!;
      expect(link).toContain('href="/openapi.json"');
    }
  });

  it('the guide for clients explains every error code of the service', async () => {
    const { text } = await get('/docs/clients.md');
    const headings = Array.from(text.matchAll(/^### (\w+)$/gm), ([, code]) => code);
    expect(headings).toEqual(expect.arrayContaining(Object.keys(errors)));
  });
});
