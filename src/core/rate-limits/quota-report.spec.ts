import { dayOf, minuteOf } from '../time/windows.js';
import { reportQuota } from './quota-report.js';

const nowMs = Date.parse('2026-06-15T12:00:30.000Z');
const minuteReset = Date.parse('2026-06-15T12:01:00Z') / 1000;
const dayReset = Date.parse('2026-06-16T00:00:00Z') / 1000;

describe(reportQuota.name, () => {
  const report = (minuteUsed: number, dayUsed: number, bannedUntilMs = 0) =>
    reportQuota(
      { perMinute: 10, perDay: 100 },
      {
        admitted: true,
        nowMs,
        minute: minuteOf(nowMs),
        minuteUsed,
        day: dayOf(nowMs),
        dayUsed,
        bannedUntilMs,
      },
    );

  it.each([
    ['the minute, which has fewer left', 3, 3, { limit: 10, remaining: 7, resetUnix: minuteReset }],
    ['the day, which has fewer left', 3, 95, { limit: 100, remaining: 5, resetUnix: dayReset }],
    ['the day on a tie', 3, 93, { limit: 100, remaining: 7, resetUnix: dayReset }],
    ['the day where nothing of either is left', 10, 100, { remaining: 0, resetUnix: dayReset }],
  ])('speaks of %s', (_what, minuteUsed, dayUsed, expected) => {
    expect(report(minuteUsed, dayUsed)).toMatchObject(expected);
  });

  it('describes both windows in the syntax of the draft, in seconds from now', () => {
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
  ])('tells a rejected client to wait for %s that rejected it', (_window, minute, day, seconds) => {
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
