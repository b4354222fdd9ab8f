import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { errors } from '../../src/errors/errors.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

const RATE_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
];

type Responses = Record<
  string,
  {
    headers: object;
    content: { 'application/json': { schema: object; examples: object } };
  }
>;

describe('the OpenAPI document', () => {
  let service: TestService;
  let document: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- what the test finds out
  beforeAll(async () => {
    service = await startService({
      clock: new FakeClock(),
      env: {
        PUBLIC_BASE_URL: 'https://api.example.com/v1',
        STAGING_BASE_URL: 'https://staging.example.com/v1',
      },
    });
    document = (await service.anonymous().get('/openapi.json')).json();
  });
  afterAll(() => service?.close());

  const operations = () => [
    document.paths['/pets'].get,
    document.paths['/pets'].post,
    document.paths['/pets/{petId}'].get,
  ];

  it('is OpenAPI 3.1 of version 1.0.0, on both base addresses', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info.version).toBe('1.0.0');
    expect(document.servers).toEqual([
      { url: 'https://api.example.com/v1', description: 'Production' },
      { url: 'https://staging.example.com/v1', description: 'Staging' },
    ]);
  });

  it('has the three operations on animals and the one on usage, and no other', () => {
    expect(Object.keys(document.paths)).toEqual(['/pets', '/pets/{petId}', '/usage']);
    expect(Object.keys(document.paths['/usage'])).toEqual(['get']);
    expect(operations().map(({ operationId }) => operationId)).toEqual([
      'listPets',
      'createPet',
      'getPet',
    ]);
  });

  it('has every parameter with its constraints', () => {
    const [list, create, get] = operations();
    expect(list.parameters).toMatchObject([
      { name: 'limit', in: 'query', required: false },
      { name: 'cursor', in: 'query', required: false },
      { name: 'status', in: 'query', required: false },
    ]);
    expect(list.parameters[0].schema).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 20,
    });
    expect(document.components.schemas.PetStatus.enum).toEqual(['available', 'pending', 'sold']);
    expect(create.parameters).toMatchObject([
      { name: 'Idempotency-Key', in: 'header', required: false },
    ]);
    expect(get.parameters).toMatchObject([
      { name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
    ]);
  });

  it('has the schemas of the specification', () => {
    const { Pet, NewPet, Pets, Error: ErrorSchema } = document.components.schemas;
    expect(NewPet.required).toEqual(['name', 'categoryId']);
    expect(NewPet.properties.name).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 });
    expect(NewPet.properties.categoryId).toMatchObject({ type: 'integer', format: 'int64' });
    expect(Object.keys(NewPet.properties)).toEqual(['name', 'categoryId', 'status']);
    expect(NewPet.additionalProperties).toBe(false);
    expect(Pet.additionalProperties).toBeUndefined();
    expect([...Pet.required].sort()).toEqual(['categoryId', 'id', 'name']);
    expect(Pet.properties.id).toMatchObject({ type: 'integer', format: 'int64' });
    expect(Pets).toMatchObject({ type: 'array', items: { $ref: '#/components/schemas/Pet' } });
    expect(ErrorSchema.required).toEqual(['code', 'message', 'status']);
  });

  it('has every response, the errors with the Error schema and an example of each code', () => {
    const [list, create, get] = operations();
    const errors = ['401', '403', '405', '429', '500', '503', 'default'];
    expect(Object.keys(list.responses).sort()).toEqual(['200', '400', ...errors].sort());
    expect(Object.keys(create.responses).sort()).toEqual(
      ['201', '400', '409', '413', '415', '422', ...errors].sort(),
    );
    expect(Object.keys(get.responses).sort()).toEqual(
      ['200', '400', '404', '410', ...errors].sort(),
    );
    for (const { responses } of operations()) {
      const { default: others, ...listed } = responses as Responses;
      expect(others).toEqual({ $ref: '#/components/responses/OtherError' });
      for (const [status, response] of Object.entries(listed)) {
        expect(Object.keys(response.headers)).toEqual(expect.arrayContaining(RATE_HEADERS));
        if (Number(status) < 400) continue;
        const { schema, examples } = response.content['application/json'];
        expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
        expect(Object.keys(examples).length).toBeGreaterThan(0);
      }
    }
    expect(list.responses['200'].content['application/json'].schema).toEqual({
      $ref: '#/components/schemas/Pets',
    });
    expect(list.responses['200'].headers).toHaveProperty('Link');
    expect(create.responses['201'].headers).toHaveProperty('Location');
    expect(list.responses['429'].headers).toHaveProperty('Retry-After');
    expect(create.responses['201'].headers.Location.required).toBe(true);
    expect(create.responses['201'].headers).toHaveProperty('Idempotent-Replayed');
    for (const name of RATE_HEADERS) {
      expect(document.components.headers[name].required).toBe(true);
    }
  });

  it('describes the general codes of further statuses once', () => {
    const { description, content } = document.components.responses.OtherError;
    for (const code of ['conflict', 'not_acceptable', 'uri_too_long']) {
      expect(description).toContain(`\`${code}\``);
    }
    expect(content['application/json'].schema.$ref).toBe('#/components/schemas/Error');
  });

  it('has no closed list of codes and no length of names that a strict client would check', () => {
    const { ErrorCode, Error: body, Pet } = document.components.schemas;
    expect(ErrorCode.enum).toBeUndefined();
    expect(ErrorCode['x-extensible-enum']).toEqual(Object.keys(errors));
    expect(JSON.stringify(body)).not.toContain('enum');
    expect(Object.keys(Pet.properties.name)).toEqual(['type', 'description', 'example']);
  });

  it('has format int64 on each integer that may exceed 32 bits, with a maximum where Number is exact', () => {
    const integers: Record<string, { format?: string; maximum?: number }> = {};
    const visit = (node: object, path: string): void => {
      for (const [key, value] of Object.entries(node)) {
        if (typeof value !== 'object' || value === null) continue;
        if ('type' in value && value.type === 'integer') integers[`${path}/${key}`] = value;
        visit(value as object, `${path}/${key}`);
      }
    };
    visit(document, '');
    const names = Object.keys(integers);
    const short = names.filter((name) => integers[name]!.format !== 'int64');
    expect(short).toEqual([
      '/paths//pets/get/parameters/0/schema',
      '/components/schemas/Error/properties/status',
      '/components/headers/Retry-After/schema',
    ]);
    const isExact = (name: string): boolean => /pets|Pet/.test(name);
    for (const name of names.filter((each) => !short.includes(each) && !isExact(each))) {
      expect([name, integers[name]!.maximum]).toEqual([name, Number.MAX_SAFE_INTEGER]);
    }
    const exact = names.filter((name) => isExact(name) && !short.includes(name));
    expect(exact.map((name) => integers[name]!.maximum)).toEqual(exact.map(() => undefined));
  });

  it.each([
    ['/pets', 'get', '400', ['invalid_request', 'malformed_request']],
    ['/pets', 'post', '400', ['invalid_request', 'malformed_json', 'malformed_request']],
    ['/pets/{petId}', 'get', '404', ['pet_not_found']],
    ['/pets/{petId}', 'get', '429', ['rate_limit_exceeded', 'key_banned']],
    ['/usage', 'get', '429', ['rate_limit_exceeded']],
  ])('has for %s, %s, the codes of a %s that it may answer', (path, method, status, codes) => {
    const { content } = document.paths[path][method].responses[status];
    expect(Object.keys(content['application/json'].examples)).toEqual(codes);
  });

  it.each([
    ['get', '/pets', 'page=1', undefined, 'invalid_request'],
    ['get', '/pets/{petId}', 'page=1', undefined, 'invalid_request'],
    ['get', '/pets/{petId}', '', undefined, 'pet_not_found'],
    ['post', '/pets', '', '', 'malformed_json'],
    ['post', '/pets', '', 'x'.repeat(70_000), 'payload_too_large'],
  ])('has as example what is answered: %s %s?%s', async (method, path, query, body, code) => {
    const client = await service.client();
    const url = `/v1${path.replace('{petId}', '4711')}?${query}`.replace(/\?$/, '');
    const answer = await (body === undefined ? client.get(url) : client.post(url, body));
    const { examples } =
      document.paths[path][method].responses[answer.status].content['application/json'];
    expect(examples[code].value).toEqual(answer.json());
  });

  it.each([
    ['Rex', true],
    [' \u2028x', true],
    ['😀', true],
    ['a b', true],
    ['', false],
    [' \u3000', false],
    ['a\u0000', false],
    ['\u0085b', false],
  ])('has a pattern for names that tells %j as the service does', async (name, valid) => {
    const pattern = new RegExp(document.components.schemas.NewPet.properties.name.pattern, 'u');
    expect(pattern.test(name)).toBe(valid);
    const client = await service.client();
    const { status } = await client.post('/v1/pets', { name, categoryId: 1 });
    expect(status).toBe(valid ? 201 : 400);
  });

  it.each([
    ['a', true],
    ['a "b" c', true],
    ['"a b"', true],
    ['" "', true],
    ['"\\"\\\\"', true],
    ['x'.repeat(255), true],
    [`"${'x'.repeat(255)}"`, true],
    [`"${'\\"'.repeat(255)}"`, true],
    ['', false],
    ['  ', false],
    ['""', false],
    ['é', false],
    ['x'.repeat(256), false],
    [`"${'x'.repeat(256)}"`, false],
    [`"${'\\"'.repeat(256)}"`, false],
  ])(
    'has a schema for the Idempotency-Key that tells %j as the service does',
    async (key, valid) => {
      const { schema } = document.paths['/pets'].post.parameters[0];
      const fits = key.length >= schema.minLength && key.length <= schema.maxLength;
      expect(new RegExp(schema.pattern, 'u').test(key) && fits).toBe(valid);
      const client = await service.client();
      const headers = { 'idempotency-key': key };
      const { status } = await client.post('/v1/pets', { name: 'Rex', categoryId: 1 }, headers);
      expect(status).toBe(valid ? 201 : 400);
    },
  );

  it('marks getPet deprecated, with its date and its replacement', () => {
    const [list, , get] = operations();
    expect(get).toMatchObject({
      deprecated: true,
      summary: 'Get an animal by its ID',
      'x-sunset': '2030-12-05',
      'x-replaced-by': '/pets with a status filter',
    });
    expect(get.description).toMatch(/5 December 2030.*GET \/pets/s);
    for (const [status, { headers }] of Object.entries(get.responses as Responses)) {
      if (status === 'default') continue;
      const names = Object.keys(headers).filter((name) => /Deprecation|Sunset|Link/.test(name));
      expect([status, names.sort()]).toEqual([
        status,
        status === '405' ? [] : ['Deprecation', 'Link', 'Sunset'],
      ]);
    }
    expect(list.deprecated).toBeUndefined();
  });

  it('requires an API key with the scope of each operation', () => {
    expect(operations().map(({ security }) => security)).toEqual([
      [{ apiKey: ['pets:read'] }],
      [{ apiKey: ['pets:write'] }],
      [{ apiKey: ['pets:read'] }],
    ]);
    expect(document.components.securitySchemes.apiKey).toMatchObject({
      type: 'http',
      scheme: 'bearer',
    });
  });

  it('lists every error code', () => {
    for (const [code, { status }] of Object.entries(errors)) {
      expect(document.info.description).toContain(`| ${status} | \`${code}\` |`);
    }
  });

  it('is the same as YAML', async () => {
    const answer = await service.anonymous().get('/openapi.yaml');
    expect(answer.headers['content-type']).toMatch(/yaml/);
    expect(parse(answer.text)).toEqual(document);
  });

  it('has a page that names no other origin, runs nothing inline, and may load from none', async () => {
    for (const path of ['/docs', '/docs/guides/clients']) {
      const page = await service.anonymous().get(path);
      expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
      const policy = page.headers['content-security-policy'];
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(page.text).not.toMatch(/(src|href)="(https?:|\/\/)|<style|style="|<script>/);
    }
    const root = await service.anonymous().get('/');
    expect([root.status, root.headers.location]).toEqual([302, '/docs']);
    expect((await service.anonymous().get('/docs/')).status).toBe(200);
  });

  it('has compressed assets, 600 kB in all', async () => {
    let bytes = 0;
    for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'page.js', 'page.css']) {
      const path = `/docs/assets/${name}`;
      const asset = await service.anonymous().get(path, { 'accept-encoding': 'br, gzip' });
      expect(asset.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
      bytes += Number(asset.headers['content-length']);
    }
    expect(bytes).toBeLessThan(600_000);
  });

  it.each([
    '/docs',
    '/docs/guides/clients',
    '/docs/assets/page.js',
    '/openapi.json',
    '/openapi.yaml',
  ])('sends %s again only where it has changed', async (path) => {
    const { headers, text } = await service.anonymous().get(path);
    expect(text.length).toBeGreaterThan(500);
    const again = await service.anonymous().get(path, { 'if-none-match': headers.etag! });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
    const stale = await service.anonymous().get(path, { 'if-none-match': '"another"' });
    expect(stale.status).toBe(200);
  });

  it.each([
    'docs/nope.js',
    'docs/assets/nope.js',
    'docs/assets/..%2fpage.html',
    'docs/assets/__proto__',
    'docs/guides/nope',
    'docs/guides/constructor',
    'docs/guides/..%2f..%2fREADME',
  ])('has nothing at /%s', async (path) =>
    expectError(await service.anonymous().get(`/${path}`), 404, 'not_found'),
  );

  it('shows the guide for authors of extensions, but not in production', async () => {
    const statusOf = async ({ origin }: TestService, path: string) =>
      (await new Client(origin).get(path)).status;
    expect(await statusOf(service, '/docs/guides/extending')).toBe(200);
    await using production = await startService({ env: { NODE_ENV: 'production' } });
    expect(await statusOf(production, '/docs/guides/extending')).toBe(404);
    const pages = ['/docs', '/docs/guides/clients'].map((path) => production.anonymous().get(path));
    for (const { status, text } of await Promise.all(pages)) {
      expect(status).toBe(200);
      expect(text).not.toContain('guides/extending');
    }
    const env = { NODE_ENV: 'production', EXTENSION_GUIDE: 'true' };
    await using shown = await startService({ env });
    expect(await statusOf(shown, '/docs/guides/extending')).toBe(200);
  });

  it('has requests for editors that work as they are', async () => {
    const client = await service.client();
    await client.post('/v1/pets', { name: 'George', categoryId: 7 });
    const text = readFileSync('clients/petstore.http', 'utf8')
      .replace('http://localhost:3000/v1', `${service.origin}/v1`)
      .replace('psk_...', client.key!);
    const [head = '', ...requests] = text.split(/^###.*\n/m);
    const variables = new Map([...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, k, v]) => [k, v]));
    const answers = requests.map(async (request) => {
      const [lines = '', body] = request
        .replace(/^#.*\n/gm, '')
        .replace(/\{\{(\w+)\}\}/g, (_all, name) => variables.get(name)!)
        .split('\n\n');
      const [start = '', ...fields] = lines.trim().split('\n');
      const [method = '', url = ''] = start.split(' ');
      const headers = fields.map((field) => field.split(': ') as [string, string]);
      const init = { method, headers, ...(body?.trim() && { body }) };
      return `${start} ${(await fetch(url, init)).status}`;
    });
    const base = `${service.origin}/v1`;
    expect(await Promise.all(answers)).toEqual([
      `GET ${base}/pets?limit=20&status=available 200`,
      `POST ${base}/pets 201`,
      `GET ${base}/pets/1 200`,
      `GET ${base}/usage 200`,
    ]);
  });

  it('is what is committed, but for the base addresses', () => {
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8')) as object;
    expect({ ...document, servers: undefined }).toEqual({ ...committed, servers: undefined });
  });
});
