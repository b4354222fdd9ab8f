import type { Answer } from './client.js';

export const RATE_HEADERS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
];

/** Counts how often each header was sent. */
export function headerCounts({ rawHeaders }: Pick<Answer, 'rawHeaders'>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Expects all five rate-limit headers, each exactly once, without a suffix. */
export function expectRateHeaders(answer: Answer): void {
  const counts = headerCounts(answer);
  for (const name of RATE_HEADERS)
    expect({ name, count: counts[name] }).toEqual({ name, count: 1 });
  expect(Object.keys(counts).filter((name) => name.startsWith('x-ratelimit-'))).toHaveLength(3);
  const { headers } = answer;
  expect(headers['x-ratelimit-limit']).toMatch(/^\d+$/);
  expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
  expect(headers['x-ratelimit-reset']).toMatch(/^\d{10}$/);
  expect(headers['ratelimit-policy']).toMatch(/^"minute";q=\d+;w=60,"day";q=\d+;w=86400$/);
  expect(headers['ratelimit']).toMatch(/^"minute";r=\d+;t=\d+,"day";r=\d+;t=\d+$/);
  expect(counts['x-request-id']).toBe(1);
}

/** Expects the Error body of the specification with no other members. */
export function expectError(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, body: answer.text }).toEqual({
    status,
    body: expect.stringContaining(`"${code}"`),
  });
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-request-id': expect.stringMatching(/./),
  });
  const body = answer.json();
  expect(Object.keys(body).sort()).toEqual(['code', 'message', 'status']);
  expect(body).toMatchObject({ code, status, message: expect.any(String) });
  expect(body.message).not.toMatch(/FST_|Nest|Fastify|SQLITE|TypeORM|at .*\.js/);
}
