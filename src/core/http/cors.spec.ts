import { corsOptions } from './cors.js';
import type { ApiRequest } from './request.js';
import { RouteTable } from './route-table.js';

const ORIGIN = 'https://app.example.com';

describe(corsOptions.name, () => {
  const optionsFor = (method: string, headers: Record<string, string>) => {
    const answer = jest.fn();
    const request = { raw: { method, headers, url: '/v1/pets' } } as ApiRequest;
    corsOptions([ORIGIN], new RouteTable(), []).delegator(request, answer);
    const [, options] = answer.mock.lastCall as [null, Record<string, unknown>];
    return options;
  };

  it.each([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Link',
    'Location',
    'Retry-After',
    'X-Request-Id',
  ])('lets scripts of a configured origin read %s', (name) => {
    const { origin, preflight, exposedHeaders } = optionsFor('GET', { origin: ORIGIN });
    expect([origin, preflight]).toEqual([ORIGIN, false]);
    expect(String(exposedHeaders).split(', ')).toContain(name);
  });

  it.each([
    ['another origin', 'https://evil.example'],
    ['its subdomain', 'https://x.app.example.com'],
    ['a name that begins alike', `${ORIGIN}.evil.example`],
    ['another scheme', 'http://app.example.com'],
    ['another port', `${ORIGIN}:8443`],
    ['another case', 'https://APP.example.com'],
    ['the opaque origin', 'null'],
    ['every origin', '*'],
  ])('allows no request of %s', (_what, origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = { origin, 'access-control-request-method': 'POST' };
      expect(optionsFor(method, headers)).toMatchObject({ origin: false, preflight: false });
    }
  });
});
