import { DataSource } from 'typeorm';
import { jsonInProcess } from '../support/run-program.js';
import { type Answer, Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startService, type TestService } from '../support/start-service.js';
import { TemporaryDirectory } from '../support/temporary-directory.js';

const unix = (iso: string): string => String(Date.parse(iso) / 1000);
const quotaOf = ({ headers }: Answer) => [
  headers['x-ratelimit-limit'],
  headers['x-ratelimit-remaining'],
  headers['x-ratelimit-reset'],
];

describe('quotas', () => {
  let service: TestService;
  let clock: FakeClock;
  beforeEach(async () => {
    clock = new FakeClock();
    service = await startService({
      clock,
      env: { BAN_AFTER_REJECTIONS: '3', BAN_SECONDS: '10', FAILED_AUTH_PER_MINUTE: '5' },
    });
  });
  afterEach(() => service?.close());

  const limited = (perMinute: number, perDay: number) =>
    service.client({ plan: 'enterprise', perMinute, perDay });

  it.each([
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const)(
    'gives the plan %s %i requests a minute and %i a day',
    async (plan, perMinute, perDay) => {
      const client = await service.client({ plan });
      const answer = await client.get('/v1/pets');
      expect(quotaOf(answer)).toEqual([
        String(perMinute),
        String(perMinute - 1),
        unix('2026-06-15T12:01:00Z'),
      ]);
      expect(answer.headers['ratelimit-policy']).toBe(
        `"minute";q=${perMinute};w=60,"day";q=${perDay};w=86400`,
      );
      expect(answer.headers['ratelimit']).toBe(
        `"minute";r=${perMinute - 1};t=30,"day";r=${perDay - 1};t=43170`,
      );
    },
  );

  it('admits exactly the limit of 200 simultaneous requests', async () => {
    const client = await limited(50, 1_000);
    const answers = await Promise.all(Array.from({ length: 200 }, () => client.get('/v1/pets')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(150);
    answers.forEach(expectRateHeaders);
  });

  it('counts every request of a caller, whatever its status', async () => {
    const client = await limited(10, 100);
    for (const path of ['/v1/nope', '/v1/pets?limit=0', '/v1/pets/7', '/v1/%zz', '/v1/pets/']) {
      await client.get(path);
    }
    expect(quotaOf(await client.get('/v1/pets'))[1]).toBe('4');
  });

  it('admits a client that waits exactly for Retry-After', async () => {
    const client = await limited(1, 2);
    await client.get('/v1/pets');
    const minute = await client.get('/v1/pets');
    expectError(minute, 429, 'rate_limit_exceeded');
    expect(minute.headers['retry-after']).toBe('30');
    clock.advance(29_999);
    expect((await client.get('/v1/pets')).headers['retry-after']).toBe('1');
    clock.advance(1);
    expect((await client.get('/v1/pets')).status).toBe(200);

    const day = await client.get('/v1/pets');
    expect(day.headers['retry-after']).toBe('43140');
    expect(quotaOf(day)).toEqual(['2', '0', unix('2026-06-16T00:00:00Z')]);
    clock.advance(43_140_000);
    expect((await client.get('/v1/pets')).status).toBe(200);
  });

  it('admits no more than the limit in any window after the clock is set back', async () => {
    const client = await limited(2, 100);
    expect((await client.get('/v1/pets')).status).toBe(200);
    clock.set('2026-06-15T11:58:30Z');
    const last = await client.get('/v1/pets');
    expect(last.status).toBe(200);
    expect(quotaOf(last)).toEqual(['2', '0', unix('2026-06-15T12:01:00Z')]);
    const rejected = await client.get('/v1/pets');
    expectError(rejected, 429, 'rate_limit_exceeded');
    expect(rejected.headers['retry-after']).toBe('150');
    expect(quotaOf(rejected)[2]).toBe(unix('2026-06-15T12:01:00Z'));
    clock.set('2026-06-15T12:00:59.999Z');
    expectError(await client.get('/v1/pets'), 429, 'rate_limit_exceeded');
    clock.advance(1);
    expect((await client.get('/v1/pets')).status).toBe(200);
  });

  it.each([
    ['a restart', 0],
    ['a restart after the clock was set back', -90_000],
  ])('never refills a quota and never ends a ban by %s', async (_what, stepMs) => {
    using directory = new TemporaryDirectory();
    const DATABASE_URL = `sqlite:${directory.path}/petstore.db`;
    const env = { DATABASE_URL, FAILED_AUTH_PER_MINUTE: '1', BAN_AFTER_REJECTIONS: '1' };
    await using first = await startService({ clock, env });
    const { key } = await first.client({ plan: 'enterprise', perMinute: 2, perDay: 10 });
    await new Client(first.origin, key).get('/v1/pets');
    await first.anonymous().get('/v1/pets');
    const { key: banned } = await first.client({ perMinute: 1, perDay: 9 });
    for (let request = 0; request < 3; request++) {
      await new Client(first.origin, banned).get('/v1/pets');
    }
    await first.close();
    clock.advance(stepMs);

    await using second = await startService({ clock, env });
    const client = new Client(second.origin, key);
    expect(quotaOf(await client.get('/v1/pets'))[1]).toBe('0');
    expectError(await client.get('/v1/pets'), 429, 'rate_limit_exceeded');
    expectError(await second.anonymous().get('/v1/pets'), 429, 'rate_limit_exceeded');
    expectError(await new Client(second.origin, banned).get('/v1/pets'), 429, 'key_banned');
  });

  it('ends a ban that is lifted, however long ago it began', async () => {
    const { app } = service.store;
    const client = await limited(1, 9);
    for (let request = 0; request < 5; request++) await client.get('/v1/pets');
    expectError(await client.get('/v1/pets'), 429, 'key_banned');
    const isSaved = async () => {
      const bans = app.get(DataSource).getRepository('RateLimitBan');
      return (await bans.update({ key: client.keyId! }, { changedAt: 1 })).affected === 1;
    };
    await eventually(isSaved);
    await jsonInProcess(service.config.databaseUrl, 'keys', 'unban', client.keyId!);
    await eventually(async () => !(await client.get('/v1/pets')).text.includes('key_banned'));
  });

  it('trusts X-Forwarded-For only of a trusted proxy', async () => {
    const env = { TRUST_PROXY: '127.0.0.1', FAILED_AUTH_PER_MINUTE: '1' };
    await using proxied = await startService({ clock, env });
    const statusFor = async (address: string, of = proxied) =>
      (await of.anonymous().get('/v1/pets', { 'x-forwarded-for': address })).status;
    expect(await statusFor('203.0.113.1')).toBe(401);
    expect(await statusFor('203.0.113.2')).toBe(401);
    // Only the last entry is from the trusted proxy.
    expect(await statusFor('198.51.100.9, 203.0.113.1')).toBe(429);
    // A /64 counts as one address.
    expect(await statusFor('2001:db8:1:2::1')).toBe(401);
    expect(await statusFor('2001:db8:1:2:ffff::9')).toBe(429);
    for (let request = 0; request < 5; request++) await statusFor(`203.0.113.${request}`, service);
    expect(await statusFor('203.0.113.9', service)).toBe(429);
  });
});
