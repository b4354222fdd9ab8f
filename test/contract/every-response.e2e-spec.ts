import type { Call } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, useService } from '../support/start-service.js';

/** Requests that the suite in conformance/ does not send. */
const JSON_TYPE = { 'content-type': 'application/json' };
const rex = '{"name":"Rex","categoryId":7}';

interface Row {
  what: string;
  path: string;
  call?: Call;
  status: number;
  code?: string;
}

const row = (what: string, path: string, status: number, code?: string, call?: Call): Row => ({
  ...{ what, path, status },
  ...(code !== undefined && { code }),
  ...(call !== undefined && { call }),
});
const post = (body: string, headers = JSON_TYPE): Call => ({ method: 'POST', headers, body });
const TEXT = { 'content-type': 'text/plain' };

const WITH_KEY: Row[] = [
  row('a bad escape', '/v1/pets/%zz', 400, 'malformed_request'),
  row('a bad escape elsewhere', '/v1/%e0%a4%a', 400, 'malformed_request'),
  ...['/v1', '/v1/', '/v1//pets', '/v1/pets/1/toys'].map((path) =>
    row(`the unknown path ${path}`, path, 404, 'not_found'),
  ),
  ...['PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'QUERY'].map((method) =>
    row(method, '/v1/pets', 405, 'method_not_allowed', { method }),
  ),
  row('DELETE, no JSON', '/v1/pets', 405, 'method_not_allowed', { method: 'DELETE', body: '{' }),
  row('an unknown path and no JSON', '/v1/nope', 404, 'not_found', post('no {', TEXT)),
  row('too much for an unknown path', '/v1/nope', 404, 'not_found', post('x'.repeat(65_537))),
  row('too much for the base address', '/v1', 404, 'not_found', post('x'.repeat(65_537))),
];

describe('every response under /v1', () => {
  const { client } = useService();
  beforeAll(async () => {
    await client.post('/v1/pets', rex);
  });

  it.each(WITH_KEY)('carries the headers: $what, $status', async ({ path, call, status, code }) => {
    const answer = await client.send(path, call);
    expect(answer.status).toBe(status);
    expectRateHeaders(answer);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['cache-control']).toBe(status === 200 ? 'private, no-cache' : 'no-store');
    if (code !== undefined && call?.method !== 'HEAD') expectError(answer, status, code);
  });

  it.each(WITH_KEY)('is a 401 without a valid key: $what', async ({ path, call }) => {
    const answer = await client.send(path, {
      ...call,
      headers: { ...call?.headers, authorization: 'Bearer psk_nobody' },
    });
    expect(answer.status).toBe(401);
    expectRateHeaders(answer);
    expect(answer.headers['www-authenticate']).toBe(
      'Bearer realm="pet-store", error="invalid_token"',
    );
    if (call?.method !== 'HEAD') expectError(answer, 401, 'invalid_api_key');
  });
});

describe('every response under /v1 to a caller over its limit', () => {
  const { client } = useService(
    { clock: new FakeClock(), env: { BAN_AFTER_REJECTIONS: '0' } },
    { plan: 'enterprise', perMinute: 1, perDay: 10 },
  );
  beforeAll(async () => {
    await client.get('/v1/pets');
  });

  it.each(WITH_KEY)('is a 429: $what', async ({ path, call }) => {
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
    '/docs/clients.md',
    '/openapi.json',
    '/openapi.yaml',
    '/llms.txt',
    '/.well-known/api-catalog',
    '/.well-known/security.txt',
    '/health/live',
    '/health/ready',
  ];

  it('has X-Content-Type-Options: nosniff', async () => {
    await using service = await startService();
    for (const path of [...ADDRESSES, '/docs/nope', '/docs/%zz', '/nope']) {
      const { headers } = await service.anonymous().get(path);
      expect([path, headers['x-content-type-options']]).toEqual([path, 'nosniff']);
    }
  });

  it('is a 405 with Allow for any other method', async () => {
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

  it('is limited per address, except for health', async () => {
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
    for (const path of ADDRESSES.filter((each) => !each.startsWith('/health'))) {
      const rejected = await client.get(path);
      expectError(rejected, 429, 'rate_limit_exceeded');
      expect(rejected.headers['retry-after']).toBe('30');
    }
    expect((await client.get('/health/live')).status).toBe(200);
    expect((await client.get('/health/ready')).status).toBe(200);
    // Requests for pages do not count as failed authentication.
    expectError(await client.get('/v1/pets'), 401, 'missing_api_key');
    clock.advance(30_000);
    expect((await client.get('/docs')).status).toBe(200);
  });
});
