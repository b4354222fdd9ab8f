import { Cors } from './cors.js';
import type { ApiReply, ApiRequest } from './request-context.js';
import { RouteTable } from './route-table.js';

const ORIGIN = 'https://app.example.com';
const ALLOW = 'access-control-allow-origin';

describe(Cors.name, () => {
  const routes = new RouteTable();
  routes.add({ method: ['GET', 'HEAD'], url: '/v1/pets' });
  routes.add({ method: 'POST', url: '/v1/pets' });
  routes.add({ method: 'DELETE', url: '/v1/toys/:id' });
  const answer = (
    origins: string[],
    method: string,
    headers: Record<string, string>,
    url = '/v1/pets',
  ) => {
    const sent: Record<string, unknown> = {};
    const code = jest.fn();
    const send = jest.fn();
    const reply = { header: (name: string, value: unknown) => (sent[name] = value), code, send };
    const request = { raw: { method, headers, url } } as unknown as ApiRequest;
    const answered = new Cors(origins, routes, ['X-Toy']).answersPreflight(
      request,
      reply as unknown as ApiReply,
    );
    expect(send.mock.calls).toHaveLength(answered ? 1 : 0);
    return { answered, sent, status: code.mock.calls[0]?.[0] as number | undefined };
  };
  const preflight = { origin: ORIGIN, 'access-control-request-method': 'POST' };

  it('answers the preflight of a configured origin', () => {
    const { answered, sent, status } = answer([ORIGIN], 'OPTIONS', preflight);
    expect({ answered, status }).toEqual({ answered: true, status: 204 });
    expect(sent).toMatchObject({
      [ALLOW]: ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, POST',
      vary: 'Origin',
    });
    const allowed = String(sent['access-control-allow-headers']).toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'x-toy']),
    );
  });

  it('allows the methods of the requested resource, and none if it does not exist', () => {
    const methods = (url: string) =>
      answer([ORIGIN], 'OPTIONS', preflight, url).sent['access-control-allow-methods'];
    expect(methods('/v1/toys/7?x=1')).toBe('DELETE');
    expect(methods('/v1/nope')).toBeUndefined();
  });

  it.each([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Link',
    'Location',
    'Retry-After',
    'X-Request-Id',
  ])('lets scripts of that origin read %s', (name) => {
    const { answered, sent } = answer([ORIGIN], 'GET', { origin: ORIGIN });
    expect(answered).toBe(false);
    expect(String(sent['access-control-expose-headers']).split(', ')).toContain(name);
  });

  it.each([
    ['another origin', 'https://evil.example'],
    ['its subdomain', 'https://x.app.example.com'],
    ['a name that begins alike', `${ORIGIN}.evil.example`],
    ['another scheme', 'http://app.example.com'],
    ['another port', `${ORIGIN}:8443`],
    ['another case', 'https://APP.example.com'],
    ['no origin to speak of', 'null'],
    ['every origin', '*'],
  ])('lets in nobody of %s, and tells a shared cache so', (_whose, origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const { answered, sent } = answer([ORIGIN], method, { ...preflight, origin });
      expect({ answered, sent }).toEqual({ answered: false, sent: { vary: 'Origin' } });
    }
  });

  it.each([
    ['an OPTIONS that asks for no method', 'OPTIONS', { origin: ORIGIN }],
    ['a GET that asks for one', 'GET', preflight],
  ])('leaves %s to be judged like any request', (_what, method, headers) => {
    expect(answer([ORIGIN], method, headers).answered).toBe(false);
  });
});
