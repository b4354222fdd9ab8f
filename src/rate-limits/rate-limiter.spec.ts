import { ApiError } from '../errors/api-error.js';
import type { ApiReply } from '../http/request-context.js';
import { Limits } from './limits.js';
import type { Decision, RateLimitStore } from './stores/rate-limit-store.js';
import { Metrics } from '../telemetry/metrics.js';
import { Plans } from './plan.js';
import { RateLimiter } from './rate-limiter.js';
import { dayOf, minuteOf } from '../time/windows.js';

const nowMs = Date.parse('2026-06-15T12:00:30.000Z');
const quota = { subject: 'zoo', limits: new Limits(2, 9) };
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

  it('reports each decision on a client with the request, a new ban included', () => {
    const ban = { at: nowMs, until: nowMs + 5_000, bans: 1 };
    const banning = limiter({ ...banned, newBan: ban });
    const listener = jest.fn();
    banning.onDecision(listener);
    const request = { id: 'r' };
    const replyOfClient = { ...reply, request } as unknown as ApiReply;
    const client = { ...quota, plan: 'free' };
    expect(() => banning.admit(client, replyOfClient)).toThrow(ApiError);
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
