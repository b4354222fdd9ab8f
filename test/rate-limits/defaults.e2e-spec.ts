import type { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

/** The limits without any configuration. */
describe('limits by default', () => {
  const clock = new FakeClock();
  const { service } = useService({ clock });

  const limited = (perMinute: number, perDay: number) =>
    service.client({ plan: 'enterprise', perMinute, perDay });
  const codesOf = async (client: Client, requests: number): Promise<string[]> => {
    const codes: string[] = [];
    for (let request = 0; request < requests; request++) {
      const answer = await client.get('/v1/pets');
      codes.push(answer.status === 200 ? 'ok' : answer.json().code);
    }
    return codes;
  };
  const times = (count: number, code: string) => Array.from({ length: count }, () => code);

  it('bans at the 101st rejection of a minute for 5 minutes, and doubles each next ban up to 1 hour', async () => {
    clock.set('2026-06-16T01:00:00Z');
    const client = await limited(1, 100_000);
    const lengths: number[] = [];
    for (let ban = 0; ban < 6; ban++) {
      expect(await codesOf(client, 102)).toEqual([
        ...['ok', ...times(100, 'rate_limit_exceeded'), 'key_banned'],
      ]);
      clock.advance(1_000);
      const rejected = await client.get('/v1/pets');
      expectError(rejected, 429, 'key_banned');
      expectRateHeaders(rejected);
      const seconds = Number(rejected.headers['retry-after']);
      lengths.push(seconds + 1);
      expect(rejected.headers['x-ratelimit-remaining']).toBe('0');
      expect(Number(rejected.headers['x-ratelimit-reset'])).toBe(clock.now() / 1000 + seconds);
      // Requests do not prolong the ban, and a client that waits exactly that long is admitted.
      clock.advance(seconds * 1_000 - 1);
      expectError(await client.get('/v1/pets'), 429, 'key_banned');
      clock.advance(1);
      expect((await client.get('/v1/pets')).text).not.toContain('key_banned');
      clock.advance(60_000);
    }
    expect(lengths).toEqual([300, 600, 1_200, 2_400, 3_600, 3_600]);
  });

  it('permits an address 60 failures a minute and 1,000 a day, without effect on valid keys', async () => {
    clock.set('2026-06-17T01:00:00Z');
    const [nobody, valid] = [service.anonymous(), await limited(1_000, 10_000)];
    for (let minute = 0; minute < 16; minute++) {
      expect(await codesOf(nobody, 61)).toEqual([
        ...times(60, 'missing_api_key'),
        'rate_limit_exceeded',
      ]);
      clock.advance(60_000);
    }
    expect(await codesOf(nobody, 41)).toEqual([
      ...times(40, 'missing_api_key'),
      'rate_limit_exceeded',
    ]);
    const rejected = await nobody.get('/v1/pets');
    expectRateHeaders(rejected);
    expect(rejected.headers['x-ratelimit-limit']).toBe('1000');
    expect((await valid.get('/v1/pets')).headers['x-ratelimit-remaining']).toBe('999');
    clock.advance(Number(rejected.headers['retry-after']) * 1_000 - 1);
    expect(await codesOf(nobody, 1)).toEqual(['rate_limit_exceeded']);
    clock.advance(1);
    expect(await codesOf(nobody, 1)).toEqual(['missing_api_key']);
  });
});
