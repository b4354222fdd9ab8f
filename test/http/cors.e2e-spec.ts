import { Controller, Delete, Module, Put } from '@nestjs/common';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, useService } from '../support/start-service.js';
import { AnyScope } from '../../src/index.js';

const app = 'https://app.example.com';
const PREFLIGHT = { origin: app, 'access-control-request-method': 'POST' };

@AnyScope()
@Controller('toys')
class ToysController {
  @Put(':id')
  put(): object {
    return {};
  }

  @Delete(':id')
  remove(): object {
    return {};
  }
}

@Module({ controllers: [ToysController] })
class ToysModule {}

describe('CORS', () => {
  const { service, client } = useService(
    {
      clock: new FakeClock(),
      env: { CORS_ORIGINS: `${app},http://localhost:8080` },
      extensions: [{ module: ToysModule, requestHeaders: ['X-Toy'] }],
    },
    { plan: 'free' },
  );

  const options = (headers: Record<string, string>, as = service.anonymous()) =>
    as.send('/v1/pets', { method: 'OPTIONS', headers });

  it('responds to a preflight of a configured origin without a key and without using quota', async () => {
    const answer = await options(PREFLIGHT);
    expect(answer.status).toBe(204);
    expect(answer.text).toBe('');
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': app,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': expect.stringMatching(/Authorization.*Idempotency-Key/),
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
    });
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    for (let round = 0; round < 70; round++) await options(PREFLIGHT);
    expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
    const fresh = await service.client({ plan: 'free' });
    expect((await fresh.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('59');
  });

  it('allows the methods and request headers of the resource, and of extensions', async () => {
    const ask = async (path: string) =>
      (await service.anonymous().send(path, { method: 'OPTIONS', headers: PREFLIGHT })).headers;
    expect((await ask('/v1/pets/1'))['access-control-allow-methods']).toBe('GET, HEAD');
    const toys = await ask('/v1/toys/7');
    expect(toys['access-control-allow-methods']).toBe('DELETE, PUT');
    expect(toys['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, Idempotency-Key, If-None-Match, X-Request-Id, traceparent, ' +
        'tracestate, baggage, X-Toy',
    );
  });

  it.each([
    ['another origin', { ...PREFLIGHT, origin: 'https://evil.example.com' }],
    ['the origin null', { ...PREFLIGHT, origin: 'null' }],
    ['no origin', { 'access-control-request-method': 'POST' }],
    ['no requested method', { origin: app }],
    ['an empty requested method', { ...PREFLIGHT, 'access-control-request-method': '' }],
  ])('evaluates an OPTIONS request with %s like every request', async (_what, headers) => {
    expectError(await options(headers), 401, 'missing_api_key');
    const answer = await options(headers, client);
    expectError(answer, 405, 'method_not_allowed');
    expectRateHeaders(answer);
  });

  it('is off by default', async () => {
    await using closed = await startService();
    const answer = await closed
      .anonymous()
      .send('/v1/pets', { method: 'OPTIONS', headers: PREFLIGHT });
    expectError(answer, 401, 'missing_api_key');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});
