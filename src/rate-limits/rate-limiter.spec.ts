import { ApiError } from '../errors/api-error.js';
import type { ApiReply } from '../http/request.js';
import type { Decision, RateLimitStore } from './stores/rate-limit-store.js';
import { Metrics } from '../telemetry/metrics.js';
import { Plans } from './plan.js';
import { RateLimiter } from './rate-limiter.js';
import { dayOf, minuteOf } from '../time/windows.js';

const nowMs = Date.parse('2026-06-15T12:00:30.000Z');
const quota = { subject: 'zoo', limits: { perMinute: 2, perDay: 9 } };
const admitted: Decision = {
  admitted: true,
  nowMs,
  minute: minuteOf(nowMs),
  minuteUsed: 1,
  day: dayOf(nowMs),
  dayUsed: 1,
  bannedUntilMs: 0,
};
const refused: Decision = { ...admitted, admitted: false, minuteUsed: 2, dayUsed: 2 };
const banned: Decision = { ...refused, bannedUntilMs: nowMs + 5_000 };
const headers = {
  'x-ratelimit-limit': 2,
  'x-ratelimit-remaining': 1,
  'x-ratelimit-reset': nowMs / 1000 + 30,
  'ratelimit-policy': '"minute";q=2;w=60,"day";q=9;w=86400',
  ratelimit: '"minute";r=1;t=30,"day";r=8;t=43170',
};

describe(RateLimiter.name, () => {
  const sent: Record<string, unknown> = {};
  const reply = { header: (name: string, value: unknown) => (sent[name] = value) };
  const limiter = (decision: Decision | Promise<Decision>) =>
    new RateLimiter(
      { take: () => decision, peek: () => decision } as unknown as RateLimitStore,
      new Metrics(),
      new Plans(),
    );
  const admit = async (decision: Decision | Promise<Decision>): Promise<true> =>
    limiter(decision).admit(quota, reply as unknown as ApiReply);

  beforeEach(() => Object.keys(sent).forEach((name) => delete sent[name]));

  it.each([admitted, Promise.resolve(admitted)])('describes the quota', async (decision) => {
    await admit(decision);
    expect(sent).toEqual(headers);
  });

  it.each([
    ['rate_limit_exceeded', refused, '30'],
    ['key_banned', banned, '5'],
  ])('refuses with %s, and says how long to wait', async (code, decision, seconds) => {
    const refusal = { code, headers: { 'Retry-After': seconds } };
    await expect(admit(decision)).rejects.toMatchObject(refusal);
    await expect(admit(Promise.resolve(decision))).rejects.toMatchObject(refusal);
    expect(sent).toMatchObject({ 'x-ratelimit-remaining': 0 });
  });

  const further = (ms: number): Partial<Decision> => ({ furtherFullUntilMs: nowMs + ms });
  it.each([
    ['the operation alone', { ...refused, minuteUsed: 1, ...further(7_000) }, '7'],
    ['the operation, after the minute', { ...refused, ...further(40_000) }, '40'],
    ['the minute, after the operation', { ...refused, ...further(7_000) }, '30'],
    ['a ban, whatever the operation says', { ...banned, ...further(40_000) }, '5'],
  ])('tells a client to retry at the end of %s', async (_what, decision, seconds) => {
    const error = await Promise.resolve(decision)
      .then(admit)
      .catch((each: unknown) => each);
    expect(error).toMatchObject({
      headers: { 'Retry-After': seconds },
      message: expect.stringContaining(`Retry after ${seconds} seconds`),
    });
  });

  it.each([
    ['admitted', admitted, undefined],
    ['minute', refused, 'minute'],
    ['day', { ...refused, dayUsed: 9 }, 'day'],
    ['banned', banned, undefined],
    [undefined, { ...refused, minuteUsed: 1, ...further(7_000) }, undefined],
  ])(
    'counts the decision %s of a plan, and notes the full window',
    async (name, decision, window) => {
      const metrics = new Metrics();
      const store = { take: () => decision } as unknown as RateLimitStore;
      const plans = new Plans();
      const request: { fullWindow?: string } = {};
      const replyOfClient = { ...reply, request } as unknown as ApiReply;
      try {
        await new RateLimiter(store, metrics, plans).admit(
          { ...quota, plan: 'pro' },
          replyOfClient,
        );
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
      expect(request.fullWindow).toBe(window);
      const decisions = (await metrics.registry.metrics()).match(
        /rate_limit_decisions_total\{.*/g,
      )!;
      expect(decisions).toHaveLength(4 * plans.names.length);
      const counted = name === undefined ? [] : [`{plan="pro",decision="${name}"} 1`];
      expect(decisions.filter((line) => !line.endsWith(' 0'))).toEqual(
        counted.map((labels) => `rate_limit_decisions_total${labels}`),
      );
    },
  );

  it('reports each decision on a client with the request, a new ban included', async () => {
    const ban = { at: nowMs, until: nowMs + 5_000, bans: 1 };
    const banning = limiter({ ...banned, newBan: ban });
    const listener = jest.fn();
    banning.onDecision(listener);
    const request = { id: 'r' };
    const replyOfClient = { ...reply, request } as unknown as ApiReply;
    const client = { ...quota, plan: 'free' };
    await expect(banning.admit(client, replyOfClient)).rejects.toThrow(ApiError);
    expect(listener.mock.calls).toEqual([
      [expect.objectContaining({ newBan: ban }), client, request],
    ]);
  });

  it('exposes the mode of the store, as it is at the scrape', async () => {
    const store: { mode: RateLimitStore['mode'] } = { mode: 'shared' };
    const metrics = new Metrics();
    new RateLimiter(store as RateLimitStore, metrics, new Plans());
    const modes = async () => (await metrics.registry.metrics()).match(/quota_store\{.*/g);
    expect(await modes()).toEqual([
      'quota_store{mode="memory"} 0',
      'quota_store{mode="redis"} 1',
      'quota_store{mode="fallback"} 0',
    ]);
    store.mode = 'fallback';
    expect(await modes()).toContain('quota_store{mode="fallback"} 1');
  });

  it('only describes a quota where a request cannot be judged', async () => {
    await limiter(refused).describe(quota, reply as unknown as ApiReply);
    expect(sent).toMatchObject({ 'x-ratelimit-remaining': 0 });
  });
});
