import type { Call, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';

/** Every status that has a cause within one request, for known and unknown paths. */
const JSON_TYPE = { 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":7}';

interface Row {
  what: string;
  path: string;
  call?: Call;
  status: number;
  code?: string;
}

const WITH_KEY: Row[] = [
  { what: 'a list', path: '/v1/pets', status: 200 },
  { what: 'its HEAD', path: '/v1/pets', call: { method: 'HEAD' }, status: 200 },
  {
    what: 'a new animal',
    path: '/v1/pets',
    call: { method: 'POST', headers: JSON_TYPE, body: rex },
    status: 201,
  },
  { what: 'an animal', path: '/v1/pets/1', status: 200 },
  { what: 'the HEAD of an animal', path: '/v1/pets/1', call: { method: 'HEAD' }, status: 200 },
  { what: 'a bad limit', path: '/v1/pets?limit=0', status: 400, code: 'invalid_request' },
  { what: 'an unknown query', path: '/v1/pets/1?x=1', status: 400, code: 'invalid_request' },
  {
    what: 'no JSON',
    path: '/v1/pets',
    call: { method: 'POST', headers: JSON_TYPE, body: '{' },
    status: 400,
    code: 'malformed_json',
  },
  { what: 'a bad escape', path: '/v1/pets/%zz', status: 400, code: 'malformed_request' },
  { what: 'a bad escape elsewhere', path: '/v1/%e0%a4%a', status: 400, code: 'malformed_request' },
  { what: 'no such animal', path: '/v1/pets/999', status: 404, code: 'pet_not_found' },
  { what: 'an unknown path', path: '/v1/nope', status: 404, code: 'not_found' },
  { what: 'the base', path: '/v1', status: 404, code: 'not_found' },
  { what: 'the base with a slash', path: '/v1/', status: 404, code: 'not_found' },
  { what: 'a trailing slash', path: '/v1/pets/', status: 404, code: 'not_found' },
  { what: 'two slashes', path: '/v1//pets', status: 404, code: 'not_found' },
  { what: 'a deeper path', path: '/v1/pets/1/toys', status: 404, code: 'not_found' },
  ...['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY'].map(
    (method) => ({
      what: method,
      path: '/v1/pets',
      call: { method },
      status: 405,
      code: 'method_not_allowed',
    }),
  ),
  {
    what: 'POST to an animal',
    path: '/v1/pets/1',
    call: { method: 'POST', headers: JSON_TYPE, body: rex },
    status: 405,
    code: 'method_not_allowed',
  },
  {
    what: 'a wrong method with a body that is no JSON',
    path: '/v1/pets',
    call: { method: 'DELETE', body: 'no {' },
    status: 405,
    code: 'method_not_allowed',
  },
  {
    what: 'an unknown path with a body that is no JSON',
    path: '/v1/nope',
    call: { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'no {' },
    status: 404,
    code: 'not_found',
  },
  {
    what: 'too much',
    path: '/v1/pets',
    call: { method: 'POST', headers: JSON_TYPE, body: `"${'x'.repeat(65_536)}"` },
    status: 413,
    code: 'payload_too_large',
  },
  {
    what: 'a long target',
    path: `/v1/pets/${'9'.repeat(8_000)}`,
    status: 414,
    code: 'uri_too_long',
  },
  {
    what: 'plain text',
    path: '/v1/pets',
    call: { method: 'POST', headers: { 'content-type': 'text/plain' }, body: rex },
    status: 415,
    code: 'unsupported_media_type',
  },
];

describe('every response under /v1', () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService();
    client = await service.client();
    await client.post('/v1/pets', rex);
  });
  afterAll(() => service?.close());

  it.each(WITH_KEY)('carries the headers: $what, $status', async ({ path, call, status, code }) => {
    const answer = await client.send(path, call);
    expect(answer.status).toBe(status);
    expectRateHeaders(answer);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    if (code !== undefined && call?.method !== 'HEAD') expectError(answer, status, code);
  });

  it.each(WITH_KEY)('is a 401 without a key, whatever is sent: $what', async ({ path, call }) => {
    const answer = await client.send(path, {
      ...call,
      headers: { ...call?.headers, authorization: 'Bearer psk_nobody' },
    });
    // The whole table, twice over, is within what one address may fail at.
    expect(answer.status).toBe(401);
    expectRateHeaders(answer);
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer realm="pet-store", error="invalid_token"',
    );
    if (call?.method !== 'HEAD') expectError(answer, 401, 'invalid_api_key');
  });
});

describe('every response under /v1 to a caller over its limit', () => {
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    service = await startService({ clock: new FakeClock(), env: { BAN_AFTER_REJECTIONS: '0' } });
    client = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 10 });
    await client.get('/v1/pets');
  });
  afterAll(() => service?.close());

  it.each(WITH_KEY)('is a 429, whatever is sent: $what', async ({ path, call }) => {
    const answer = await client.send(path, call);
    expect(answer.status).toBe(429);
    expectRateHeaders(answer);
    expect(answer.headers['retry-after']).toBe('30');
    expect(answer.headers['x-ratelimit-remaining']).toBe('0');
    if (call?.method !== 'HEAD') expectError(answer, 429, 'rate_limit_exceeded');
  });
});

describe('every response of every other address', () => {
  const ADDRESSES = [
    '/',
    '/docs',
    '/openapi.json',
    '/openapi.yaml',
    '/health/live',
    '/health/ready',
  ];

  it('is not to be sniffed at', async () => {
    await using service = await startService();
    for (const path of [...ADDRESSES, '/docs/nope', '/docs/%zz', '/nope']) {
      const { headers } = await service.anonymous().get(path);
      expect([path, headers['x-content-type-options']]).toEqual([path, 'nosniff']);
    }
  });

  it('is a 405 to another method than its own', async () => {
    await using service = await startService();
    for (const path of [...ADDRESSES, '/docs/', '/docs/guides/clients']) {
      for (const method of ['POST', 'OPTIONS']) {
        const answer = await service.anonymous().send(path, { method });
        expectError(answer, 405, 'method_not_allowed');
        expect([path, answer.headers.allow]).toEqual([path, 'GET, HEAD']);
      }
    }
    expectError(await service.anonymous().post('/nope', {}), 404, 'not_found');
  });

  it('is bounded by address, but for its health', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const client = service.anonymous();
    const statuses: number[] = [];
    for (const path of ['/docs/', '/openapi.json', '/']) {
      const ask = () => client.get(path);
      const answers = await Promise.all(Array.from({ length: 200 }, ask));
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status >= 400)).toEqual([]);
    for (const path of ['/docs', '/docs/', '/openapi.json', '/openapi.yaml']) {
      const refused = await client.get(path);
      expectError(refused, 429, 'rate_limit_exceeded');
      expect(refused.headers['retry-after']).toBe('30');
    }
    expect((await client.get('/health/live')).status).toBe(200);
    expect((await client.get('/health/ready')).status).toBe(200);
    // What was read in a browser does not count as a failure to authenticate.
    expectError(await client.get('/v1/pets'), 401, 'missing_api_key');
    clock.advance(30_000);
    expect((await client.get('/docs')).status).toBe(200);
  });
});

describe('X-Request-Id', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service?.close());

  it.each(['a', 'A-b_c.9', 'x'.repeat(128)])('is the caller’s where it is %p', async (id) => {
    const answer = await service.anonymous().get('/v1/pets', { 'x-request-id': id });
    expect(answer.headers['x-request-id']).toBe(id);
  });

  it.each(['', 'a b', 'é', 'x'.repeat(129), 'a,b', '<script>', '%0a'])(
    'is a fresh one where the caller’s is %p',
    async (id) => {
      const answer = await service.anonymous().get('/v1/pets', { 'x-request-id': id });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('is a fresh one where two were sent', async () => {
    const answer = await service.anonymous().get('/v1/pets', { 'x-request-id': ['a', 'b'] });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});
