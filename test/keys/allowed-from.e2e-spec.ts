import { DataSource } from 'typeorm';
import { KeyList } from '../../src/core/keys/key-list.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { LastUses } from '../../src/core/keys/last-uses.js';
import { UsageRecorder } from '../../src/core/usage/usage-recorder.js';
import { UsageService } from '../../src/core/usage/usage.service.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

const from = (address: string) => ({ 'x-forwarded-for': address });
const ALLOWED = from('203.0.113.7');

describe('a key with addresses', () => {
  // The tests are independent: each has addresses of its own.
  const clock = new FakeClock();
  const { service } = useService({
    clock,
    env: { TRUST_PROXY: '127.0.0.1', FAILED_AUTH_PER_MINUTE: '3', FAILED_AUTH_PER_DAY: '9' },
  });
  const app = () => service.store.app;
  const issue = () =>
    service.client({ perMinute: 9, perDay: 90, allowedFrom: ['203.0.113.0/24', '2001:db8::/32'] });

  it.each([
    ['203.0.113.7', 200],
    ['::ffff:203.0.113.8', 200],
    ['2001:db8::7', 200],
    ['198.51.100.1', 403],
    ['2001:db9::1', 403],
  ])('used from %s gets %s', async (address, status) => {
    const client = await issue();
    const answer = await client.get('/v1/pets', from(address));
    expect(answer.status).toBe(status);
    expectRateHeaders(answer);
  });

  it('is rejected with 403 before its scope, and on unknown paths', async () => {
    const client = await issue();
    for (const path of ['/v1/pets', '/v1/nope', '/v1/key']) {
      const answer = await client.get(path, from('198.51.100.2'));
      expectError(answer, 403, 'address_not_allowed');
      expect(answer.json().message).toContain('198.51.100.2');
    }
  });

  it('counts a rejected request for the address: beyond its limit, it gets 429', async () => {
    const client = await issue();
    const address = from('198.51.100.3');
    for (let left = 2; left >= 0; left--) {
      const answer = await client.get('/v1/pets', address);
      expectError(answer, 403, 'address_not_allowed');
      expect(answer.headers['x-ratelimit-limit']).toBe('3');
      expect(answer.headers['x-ratelimit-remaining']).toBe(String(left));
    }
    expectError(await client.get('/v1/pets', address), 429, 'rate_limit_exceeded');
    // Neither the client nor another key of the address is affected.
    const allowed = await client.get('/v1/pets', ALLOWED);
    expect([allowed.status, allowed.headers['x-ratelimit-remaining']]).toEqual([200, '8']);
    expect((await (await service.client()).get('/v1/pets', address)).status).toBe(200);
  });

  it('is not used by a rejected request, which appears among those of its client', async () => {
    const client = await issue();
    const keyId = client.keyId!;
    await client.get('/v1/pets', from('198.51.100.4'));
    await app().get(LastUses).flush();
    expect(await app().get(KeyList).get(keyId)).toMatchObject({
      ...{ lastUsedAt: null, lastUsedFrom: null },
      allowedFrom: ['203.0.113.0/24', '2001:db8::/32'],
    });
    await client.get('/v1/pets', ALLOWED);
    clock.advance(2_000);
    await client.get('/v1/pets', from('198.51.100.4'));
    await app().get(LastUses).flush();
    expect((await app().get(KeyList).get(keyId)).lastUsedFrom).toBe('203.0.113.7');
    await app().get(UsageRecorder).flush();
    expect((await app().get(UsageService).history(keyId, 1)).rejected).toMatchObject([
      { keyId, code: 'address_not_allowed', address: '198.51.100.4', count: 2 },
    ]);
  });

  it('can be withdrawn by a repeated rotation after a rejected request', async () => {
    const client = await issue();
    const keys = app().get(KeysService);
    const { key, record } = await keys.rotate(client.keyId!, 60_000);
    const headers = { authorization: `Bearer ${key}`, ...from('198.51.100.5') };
    expectError(await service.anonymous().get('/v1/pets', headers), 403, 'address_not_allowed');
    const again = await keys.rotate(client.keyId!, 60_000);
    expect(again.record.allowedFrom).toBe(record.allowedFrom);
    expect(record.allowedFrom).toBe('203.0.113.0/24 2001:db8::/32');
  });

  it('applies a change of the list', async () => {
    const client = await issue();
    const address = from('192.0.2.77');
    expect((await client.get('/v1/pets', ALLOWED)).status).toBe(200);
    const keys = app().get(KeysService);
    const becomes = (headers: Record<string, string>, status: number) =>
      eventually(async () => (await client.get('/v1/key', headers)).status === status);
    await keys.set(client.keyId!, { allowedFrom: ['192.0.2.77'] });
    await becomes(ALLOWED, 403);
    expect((await client.get('/v1/key', address)).status).toBe(200);
    await keys.set(client.keyId!, { allowedFrom: [] });
    await becomes(ALLOWED, 200);
  });

  it('whose stored list cannot be read is rejected everywhere', async () => {
    const client = await issue();
    await app()
      .get(DataSource)
      .query(
        `UPDATE api_keys SET allowed_from = '203.0.113.7,nonsense' WHERE id = '${client.keyId}'`,
      );
    expectError(await client.get('/v1/pets', ALLOWED), 403, 'address_not_allowed');
    expect((await app().get(KeyList).get(client.keyId!)).allowedFrom).toEqual([
      '203.0.113.7,nonsense',
    ]);
  });
});
