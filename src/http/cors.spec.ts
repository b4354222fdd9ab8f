import { Cors } from './cors.js';
import type { ApiReply, ApiRequest } from './request-context.js';
import { RouteTable } from './route-table.js';

const ORIGIN = 'https://app.example.com';

describe(Cors.name, () => {
  const answer = (method: string, headers: Record<string, string>) => {
    const sent: Record<string, unknown> = {};
    const reply = { header: (name: string, value: unknown) => (sent[name] = value) };
    const request = { raw: { method, headers, url: '/v1/pets' } } as unknown as ApiRequest;
    const cors = new Cors([ORIGIN], new RouteTable());
    const answered = cors.answersPreflight(request, reply as unknown as ApiReply);
    return { answered, sent };
  };

  it.each([
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'Link',
    'Location',
    'Retry-After',
    'X-Request-Id',
  ])('lets scripts of that origin read %s', (name) => {
    const { answered, sent } = answer('GET', { origin: ORIGIN });
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
  ])('allows no request of %s, and sets Vary for shared caches', (_what, origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const { answered, sent } = answer(method, {
        origin,
        'access-control-request-method': 'POST',
      });
      expect({ answered, sent }).toEqual({ answered: false, sent: { vary: 'Origin' } });
    }
  });
});
