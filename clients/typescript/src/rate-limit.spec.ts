import { readRateLimit } from './rate-limit.js';

const nowMs = 1_000_000_000_000;
const plain = {
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '42',
  'x-ratelimit-reset': '1000000017',
};
const policy = '"minute";q=60;w=60,"day";q=1000;w=86400';
const read = (headers: Record<string, string>) => readRateLimit(new Headers(headers), nowMs);

describe(readRateLimit.name, () => {
  it.each([
    ['with the parameters r and t', '"minute";r=42;t=17,"day";r=910;t=40211'],
    ['with the parameters a and w', '"minute";a=42;w=17, "day";a=910;w=40211'],
  ])('reads both windows, %s', (_names, ratelimit) => {
    expect(read({ ...plain, ratelimit, 'ratelimit-policy': policy })).toEqual({
      state: {
        limit: 60,
        remaining: 42,
        resetAt: new Date(1_000_000_017_000),
        minute: { limit: 60, remaining: 42 },
        day: { limit: 1_000, remaining: 910 },
      },
      minuteSeconds: 17,
      daySeconds: 40_211,
    });
  });

  it('falls back to the X-RateLimit headers for both windows', () => {
    expect(read(plain)).toMatchObject({
      state: { minute: { limit: 60, remaining: 42 }, day: { limit: 60, remaining: 42 } },
      minuteSeconds: 17,
      daySeconds: 17,
    });
  });

  it.each([{}, { ...plain, 'x-ratelimit-reset': 'soon' }])('returns undefined for %j', (headers) =>
    expect(read(headers as Record<string, string>)).toBeUndefined(),
  );
});
