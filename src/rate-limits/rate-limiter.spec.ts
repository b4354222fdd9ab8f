import { FakeClock } from '../../test/support/clock.js';
import type { ApiReply } from '../http/request-context.js';
import { Limits } from './limits.js';
import type { Decision, RateLimitStore } from './stores/rate-limit-store.js';
import { Metrics } from '../telemetry/metrics.js';
import { RateLimiter, reportQuota } from './rate-limiter.js';
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
      new FakeClock(),
    );
  // Called as a request would be, so that what is thrown at once and what later look alike.
  const admit = async (decision: Decision | Promise<Decision>): Promise<void> =>
    limiter(decision).admit(quota, reply as unknown as ApiReply);

  beforeEach(() => Object.keys(sent).forEach((name) => delete sent[name]));

  it.each([
    ['in this process', () => admitted],
    ['elsewhere', () => Promise.resolve(admitted)],
  ])('tells what is left where counters are %s', async (_where, decision) => {
    await admit(decision());
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

  it('tells of a ban, with the request that it began with', async () => {
    const ban = { at: nowMs, until: nowMs + 5_000, bans: 1 };
    const asked = limiter({ ...banned, newBan: ban, beganBan: true });
    const heard = jest.fn();
    asked.onBan(heard);
    const request = { id: 'r' };
    const told = { ...reply, request } as unknown as ApiReply;
    await expect(async () => asked.admit(quota, told)).rejects.toMatchObject({ status: 429 });
    expect(heard.mock.calls).toEqual([[ban, request, true]]);
  });

  it('tells of the limits where whoever counts does not answer', async () => {
    const away = () => Promise.reject<Decision>(new Error('away'));
    const told = { 'x-ratelimit-limit': 2, 'x-ratelimit-remaining': 2, ratelimit: /r=2.*r=9/ };
    await expect(admit(away())).rejects.toThrow('away');
    expect(sent).toMatchObject({ ...told, ratelimit: expect.stringMatching(told.ratelimit) });
    delete sent['x-ratelimit-limit'];
    await expect(limiter(away()).describe(quota, reply as unknown as ApiReply)).rejects.toThrow(
      'away',
    );
    expect(sent).toMatchObject({ 'x-ratelimit-limit': 2 });
  });

  it('only describes a quota where a request cannot be judged', async () => {
    await limiter(refused).describe(quota, reply as unknown as ApiReply);
    expect(sent).toMatchObject({ 'x-ratelimit-remaining': 0 });
  });
});

const minuteReset = Date.parse('2026-06-15T12:01:00Z') / 1000;
const dayReset = Date.parse('2026-06-16T00:00:00Z') / 1000;

describe(reportQuota.name, () => {
  const report = (minuteUsed: number, dayUsed: number, bannedUntilMs = 0) =>
    reportQuota(new Limits(10, 100), {
      admitted: true,
      nowMs,
      minute: minuteOf(nowMs),
      minuteUsed,
      day: dayOf(nowMs),
      dayUsed,
      bannedUntilMs,
    });

  it.each([
    ['the minute, which has fewer left', 3, 3, { limit: 10, remaining: 7, resetUnix: minuteReset }],
    ['the day, which has fewer left', 3, 95, { limit: 100, remaining: 5, resetUnix: dayReset }],
    ['the day on a tie', 3, 93, { limit: 100, remaining: 7, resetUnix: dayReset }],
    ['the day where nothing of either is left', 10, 100, { remaining: 0, resetUnix: dayReset }],
  ])('speaks of %s', (_what, minuteUsed, dayUsed, expected) => {
    expect(report(minuteUsed, dayUsed)).toMatchObject(expected);
  });

  it('tells both windows in the syntax of the draft, in seconds from now', () => {
    expect(report(3, 95).rateLimit).toBe('"minute";r=7;t=30,"day";r=5;t=43170');
  });

  it('leaves nothing, and not less, of a limit that was lowered below its use', () => {
    expect(report(60, 60)).toMatchObject({
      remaining: 0,
      resetUnix: minuteReset,
      rateLimit: '"minute";r=0;t=30,"day";r=40;t=43170',
    });
  });

  it.each([
    ['the minute', 10, 10, 30],
    ['the day', 10, 100, 43_170],
  ])('has a refused client wait for %s that refused it', (_window, minute, day, seconds) => {
    expect(report(minute, day).retryAfterSeconds).toBe(seconds);
  });

  it('speaks of a ban alone while there is one, in whole seconds that are not too short', () => {
    expect(report(3, 3, nowMs + 4_001)).toMatchObject({
      remaining: 0,
      resetUnix: nowMs / 1000 + 5,
      rateLimit: '"minute";r=0;t=5,"day";r=0;t=5',
      retryAfterSeconds: 5,
    });
    expect(report(10, 100, nowMs + 300_000).retryAfterSeconds).toBe(300);
  });

  it('speaks of the windows again when the ban has ended', () => {
    expect(report(3, 3, nowMs)).toMatchObject({ remaining: 7, resetUnix: minuteReset });
  });
});
