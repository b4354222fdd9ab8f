import { dayEndUnix, dayOf, minuteEndUnix, minuteOf, secondsUntil } from './windows.js';

const ms = (iso: string): number => Date.parse(iso);
const unix = (iso: string): number => ms(iso) / 1000;

describe(minuteOf.name, () => {
  it.each([
    ['2026-06-15T12:00:00.000Z', '2026-06-15T12:01:00Z'],
    ['2026-06-15T12:00:59.999Z', '2026-06-15T12:01:00Z'],
    ['2026-12-31T23:59:30.500Z', '2027-01-01T00:00:00Z'],
  ])('numbers the window of %s, which ends at %s', (now, end) => {
    expect(minuteEndUnix(minuteOf(ms(now)))).toBe(unix(end));
  });

  it('starts at :00 seconds, to the millisecond', () => {
    const start = ms('2026-06-15T12:01:00Z');
    expect(minuteOf(start) - minuteOf(start - 1)).toBe(1);
    expect(minuteOf(start + 59_999)).toBe(minuteOf(start));
  });
});

describe(dayOf.name, () => {
  it.each([
    ['2026-06-15T00:00:00.000Z', '2026-06-16T00:00:00Z'],
    ['2026-06-15T23:59:59.999Z', '2026-06-16T00:00:00Z'],
    ['2028-02-28T12:00:00.000Z', '2028-02-29T00:00:00Z'],
  ])('numbers the window of %s, which ends at %s', (now, end) => {
    expect(dayEndUnix(dayOf(ms(now)))).toBe(unix(end));
  });

  it('starts at 00:00, to the millisecond', () => {
    const start = ms('2026-06-16T00:00:00Z');
    expect(dayOf(start) - dayOf(start - 1)).toBe(1);
    expect(dayOf(start + 86_399_999)).toBe(dayOf(start));
  });
});

describe(secondsUntil.name, () => {
  const reset = unix('2026-06-15T12:01:00Z');
  it.each([
    ['2026-06-15T12:00:00.000Z', 60],
    ['2026-06-15T12:00:00.001Z', 60],
    ['2026-06-15T12:00:58.999Z', 2],
    ['2026-06-15T12:00:59.000Z', 1],
    ['2026-06-15T12:00:59.999Z', 1],
  ])('rounds up: at %s it is %i', (now, seconds) => {
    expect(secondsUntil(reset, ms(now))).toBe(seconds);
  });

  it('is at least 1, even for a time in the past', () => {
    expect(secondsUntil(reset, ms('2026-06-15T12:01:00Z'))).toBe(1);
    expect(secondsUntil(reset, ms('2026-06-15T12:05:00Z'))).toBe(1);
  });
});
