import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { errors } from 'pet-store-service';
import { FakeClock } from '../support/clock.js';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

const RATE_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'X-Request-Id',
];
const int64 = { type: 'integer', format: 'int64' };

interface Response {
  headers: object;
  content: { 'application/json': { schema: object; examples: object } };
}

describe('the OpenAPI document', () => {
  const { service, client } = useService({
    clock: new FakeClock(),
    env: {
      PUBLIC_BASE_URL: 'https://api.example.com/v1',
      STAGING_BASE_URL: 'https://staging.example.com/v1',
    },
  });
  let document: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- a test asserts the shape
  beforeAll(async () => {
    document = (await service.anonymous().get('/openapi.json')).json();
  });

  const operations = () => [
    document.paths['/pets'].get,
    document.paths['/pets'].post,
    document.paths['/pets/{petId}'].get,
  ];

  it('has the version, addresses, operations, parameters, scopes and schemas of the specification', () => {
    const query = { in: 'query', required: false };
    expect(Object.keys(document.paths)).toEqual([
      '/pets',
      '/pets/{petId}',
      '/key',
      '/key/rotate',
      '/usage',
      '/usage/history',
    ]);
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.0.0' },
      servers: [
        { url: 'https://api.example.com/v1', description: 'Production' },
        { url: 'https://staging.example.com/v1', description: 'Staging' },
      ],
      paths: {
        '/pets': {
          get: {
            operationId: 'listPets',
            security: [{ apiKey: ['pets:read'] }],
            parameters: [
              {
                ...{ name: 'limit', ...query },
                schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
              },
              { name: 'cursor', ...query },
              { name: 'status', ...query },
              { name: 'If-None-Match', in: 'header' },
            ],
          },
          post: {
            operationId: 'createPet',
            security: [{ apiKey: ['pets:write'] }],
            parameters: [{ name: 'Idempotency-Key', in: 'header', required: false }],
          },
        },
        '/pets/{petId}': {
          get: {
            operationId: 'getPet',
            security: [{ apiKey: ['pets:read'] }],
            parameters: [
              { name: 'petId', in: 'path', required: true, schema: int64 },
              { name: 'If-None-Match', in: 'header' },
            ],
          },
        },
        '/usage': { get: { operationId: 'getUsage' } },
      },
      components: {
        schemas: {
          NewPet: {
            required: ['name', 'categoryId'],
            properties: {
              name: { type: 'string', minLength: 1, maxLength: 255 },
              categoryId: int64,
              status: {},
            },
            additionalProperties: false,
          },
          Pet: { properties: { id: int64, categoryId: int64 } },
          Pets: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
          PetStatus: { enum: ['available', 'pending', 'sold'] },
          Error: { required: ['code', 'message', 'status'] },
        },
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } },
      },
    });
    const { Pet } = document.components.schemas;
    expect([...Pet.required].sort()).toEqual(['categoryId', 'id', 'name']);
  });

  it('has every response, the errors with the Error schema and an example of each code', () => {
    const [list, create, get] = operations();
    const errors = ['401', '403', '405', '429', '500', '503', 'default'];
    for (const [{ responses }, ...statuses] of [
      [list, '200', '304', '400'],
      [create, '201', '400', '409', '413', '415', '422'],
      [get, '200', '304', '400', '404', '410'],
    ]) {
      expect(Object.keys(responses).sort()).toEqual([...statuses, ...errors].sort());
      const { default: others, ...listed } = responses as Record<string, Response>;
      expect(others).toEqual({ $ref: '#/components/responses/OtherError' });
      for (const [status, { headers, content }] of Object.entries(listed)) {
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(RATE_HEADERS));
        if (Number(status) < 400) continue;
        const { schema, examples } = content['application/json'];
        expect(schema).toEqual({ $ref: '#/components/schemas/Error' });
        expect(Object.keys(examples).length).toBeGreaterThan(0);
      }
    }
    expect(list.responses['200'].headers).toHaveProperty('Link');
    expect(list.responses['429'].headers).toHaveProperty('Retry-After');
    expect(create.responses['201'].headers).toMatchObject({
      Location: { required: true },
      'Idempotent-Replayed': expect.anything(),
    });
    for (const name of RATE_HEADERS) {
      expect(document.components.headers[name].required).toBe(true);
    }
  });

  it('describes the codes of other statuses once, and every code of the service', () => {
    const { description } = document.components.responses.OtherError;
    expect(description).toContain('the name of the status in snake case');
    for (const [code, { status }] of Object.entries(errors)) {
      expect(document.info.description).toContain(`| ${status} | \`${code}\` |`);
    }
  });

  it('has no closed list of codes and no length of names that a strict client would check', () => {
    const { ErrorCode, Error: body, Pet } = document.components.schemas;
    expect(ErrorCode.enum).toBeUndefined();
    expect(ErrorCode['x-extensible-enum']).toEqual(Object.keys(errors));
    expect(JSON.stringify(body)).not.toContain('enum');
    expect(Pet.additionalProperties).toBeUndefined();
    expect(Object.keys(Pet.properties.name)).toEqual(['type', 'description', 'example']);
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
  ] as const)(
    'has an example of the response to %s %s?%s',
    async (method, path, query, body, code) => {
      const url = `/v1${path.replace('{petId}', '4711')}?${query}`.replace(/\?$/, '');
      const answer = await (body === undefined ? client.get(url) : client.post(url, body));
      const { examples } =
        document.paths[path][method].responses[answer.status].content['application/json'];
      const { message, ...rest } = answer.json();
      expect(examples[code].value).toEqual({ ...rest, message: errors[code].meaning });
      expect(message).not.toBe('');
    },
  );

  it.each([
    [201, ['Rex', ' \u2028x', '😀', 'a b']],
    [400, ['', ' \u3000', 'a\u0000', '\u0085b']],
  ])('has a pattern that agrees with the service on the names with %i', async (status, names) => {
    const pattern = new RegExp(document.components.schemas.NewPet.properties.name.pattern, 'u');
    for (const name of names) {
      expect([name, pattern.test(name)]).toEqual([name, status === 201]);
      const answer = await client.post('/v1/pets', { name, categoryId: 1 });
      expect([name, answer.status]).toEqual([name, status]);
    }
  });

  const long = 'x'.repeat(255);
  const quotes = '\\"'.repeat(255);
  it.each([
    [201, ['a', 'a "b" c', '"a b"', '" "', '"\\"\\\\"', long, `"${long}"`, `"${quotes}"`]],
    [400, ['', '  ', '""', 'é', `${long}x`, `"${long}x"`, `"${quotes}x"`]],
  ])(
    'has a schema that agrees with the service on the Idempotency-Keys with %i',
    async (status, keys) => {
      const { schema } = document.paths['/pets'].post.parameters[0];
      for (const key of keys) {
        const fits = key.length >= schema.minLength && key.length <= schema.maxLength;
        const isValid = new RegExp(schema.pattern, 'u').test(key) && fits;
        expect([key, isValid]).toEqual([key, status === 201]);
        const headers = { 'idempotency-key': key };
        const answer = await client.post('/v1/pets', { name: 'Rex', categoryId: 1 }, headers);
        expect([key, answer.status]).toEqual([key, status]);
      }
    },
  );

  it('marks getPet deprecated, with its date and its replacement', () => {
    const [list, , get] = operations();
    expect(get).toMatchObject({
      deprecated: true,
      summary: 'Get a pet by its ID',
      'x-sunset': '2030-12-05',
      'x-replaced-by': '/pets with a status filter if the status is known',
    });
    expect(get.description).toMatch(/5 December 2030.*GET \/pets/s);
    for (const [status, { headers }] of Object.entries(get.responses as Record<string, Response>)) {
      if (status === 'default') continue;
      const names = Object.keys(headers).filter((name) => /Deprecation|Sunset|Link/.test(name));
      expect([status, names.sort()]).toEqual([
        status,
        status === '405' ? [] : ['Deprecation', 'Link', 'Sunset'],
      ]);
    }
    expect(list.deprecated).toBeUndefined();
  });

  it('is the committed one except for the addresses, also as YAML', async () => {
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8')) as object;
    expect({ ...document, servers: undefined }).toEqual({ ...committed, servers: undefined });
    const answer = await service.anonymous().get('/openapi.yaml');
    expect(answer.headers['content-type']).toMatch(/yaml/);
    expect(load(answer.text)).toEqual(document);
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

  it.each([
    '/docs',
    '/docs/guides/clients',
    '/docs/assets/page.js',
    '/openapi.json',
    '/openapi.yaml',
  ])('sends %s again only if it has changed', async (path) => {
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
});
