import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { ERROR_CODES } from '../../src/http/api-error.js';
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
      env: {
        PUBLIC_BASE_URL: 'https://api.example.com/v1',
        STAGING_BASE_URL: 'https://staging.example.com/v1',
      },
    });
    document = (await service.anonymous().get('/openapi.json')).json();
  });
  afterAll(() => service.close());

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

  it('has the three operations, and no other', () => {
    expect(Object.keys(document.paths)).toEqual(['/pets', '/pets/{petId}']);
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
      { name: 'status', in: 'query', required: false },
      { name: 'cursor', in: 'query', required: false },
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
    const errors = ['401', '403', '405', '429', '500', '503'];
    expect(Object.keys(list.responses).sort()).toEqual(['200', '400', ...errors].sort());
    expect(Object.keys(create.responses).sort()).toEqual(
      ['201', '400', '409', '413', '415', '422', ...errors].sort(),
    );
    expect(Object.keys(get.responses).sort()).toEqual(
      ['200', '400', '404', '410', ...errors].sort(),
    );
    for (const { responses } of operations()) {
      for (const [status, response] of Object.entries(responses as Responses)) {
        expect(Object.keys(response.headers)).toEqual(expect.arrayContaining(RATE_HEADERS));
        const { schema, examples } = response.content['application/json'];
        if (Number(status) < 400) continue;
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
  });

  it.each([
    ['/pets', 'get', '400', ['invalid_request', 'malformed_request']],
    ['/pets', 'post', '400', ['invalid_request', 'malformed_json', 'malformed_request']],
    ['/pets/{petId}', 'get', '404', ['pet_not_found']],
    ['/pets/{petId}', 'get', '429', ['rate_limit_exceeded', 'key_banned']],
  ])('has for %s, %s, the codes of a %s that it may answer', (path, method, status, codes) => {
    const { content } = document.paths[path][method].responses[status];
    expect(Object.keys(content['application/json'].examples)).toEqual(codes);
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

  it('marks getPet deprecated, with its date and its replacement', () => {
    const [list, , get] = operations();
    expect(get).toMatchObject({
      deprecated: true,
      summary: 'Get an animal by its ID',
      'x-sunset': '2030-12-05',
      'x-replaced-by': '/pets with a status filter',
    });
    expect(get.description).toMatch(/5 December 2030.*GET \/pets/s);
    for (const response of Object.values(get.responses as Responses)) {
      expect(Object.keys(response.headers)).toEqual(
        expect.arrayContaining(['Deprecation', 'Sunset', 'Link']),
      );
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
    for (const [code, { status }] of Object.entries(ERROR_CODES)) {
      expect(document.info.description).toContain(`| ${status} | \`${code}\` |`);
    }
  });

  it('is the same as YAML', async () => {
    const answer = await service.anonymous().get('/openapi.yaml');
    expect(answer.headers['content-type']).toMatch(/yaml/);
    expect(parse(answer.text)).toEqual(document);
  });

  it('has a page that names no other origin, and may load from none', async () => {
    const page = await service.anonymous().get('/docs');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    expect(page.text).not.toMatch(/https?:/);
    const root = await service.anonymous().get('/');
    expect([root.status, root.headers.location]).toEqual([302, '/docs']);
  });

  it.each(['nope.js', 'package.json', '..%2fpackage.json', '__proto__', 'constructor'])(
    'has no asset %s',
    async (name) => expectError(await service.anonymous().get(`/docs/${name}`), 404, 'not_found'),
  );

  it('is what is committed, but for the base addresses', () => {
    const committed = JSON.parse(readFileSync('openapi.json', 'utf8')) as object;
    expect({ ...document, servers: undefined }).toEqual({ ...committed, servers: undefined });
  });
});
