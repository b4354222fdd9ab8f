import { DataSource } from 'typeorm';
import { deleteUsageBefore, saveUsage } from '../support/background.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { jsonInProcess } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

describe('the rejected requests of getUsageHistory', () => {
  const address = '127.0.0.1';
  const rejectedOf = async (client: Client) =>
    (await client.get('/v1/usage/history')).json().rejected;

  it('are grouped by code, operation and window on a UTC day, newest first', async () => {
    const clock = new FakeClock(Date.parse('2026-06-15T23:58:00Z'));
    await using service = await startService({ clock });
    const client = await service.client();
    const start = clock.now();
    const iso = (seconds: number) => new Date(start + seconds * 1000).toISOString();
    for (let round = 0; round < 3; round++) {
      await client.get('/v1/pets/7');
      clock.advance(1_000);
      await client.get('/v1/pets?limit=0');
      clock.advance(9_000);
      // A group whose requests are saved at different times stays one group.
      await saveUsage(service);
    }
    clock.set('2026-06-16T00:00:00Z');
    await client.get('/v1/pets/7');
    await saveUsage(service);
    const get = { code: 'pet_not_found', operation: 'getPet', address, window: null };
    const list = { code: 'invalid_request', operation: 'listPets', address, window: null };
    expect(await rejectedOf(client)).toEqual([
      { ...get, at: iso(120), firstAt: iso(120), count: 1 },
      { ...list, at: iso(21), firstAt: iso(1), count: 3 },
      { ...get, at: iso(20), firstAt: iso(0), count: 3 },
    ]);
  });

  it.each([
    ['minute', { perMinute: 1, perDay: 9 }],
    ['day', { perMinute: 9, perDay: 1 }],
  ])('have the window of the plan that was full, the %s', async (window, limits) => {
    await using service = await startService({ clock: new FakeClock() });
    const client = await service.client(limits);
    for (let request = 0; request < 2; request++) await client.get('/v1/pets');
    await saveUsage(service);
    expect(await rejectedOf(client)).toMatchObject([
      { code: 'rate_limit_exceeded', window, count: 1 },
    ]);
  });

  it('are told apart by address', async () => {
    const env = { TRUST_PROXY: '127.0.0.1' };
    await using service = await startService({ clock: new FakeClock(), env });
    const client = await service.client();
    for (const from of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
      await client.get('/v1/pets/7', { 'x-forwarded-for': from });
    }
    await saveUsage(service);
    const groups = (await rejectedOf(client)) as { address: string; count: number }[];
    const counts = new Map(groups.map((group) => [group.address, group.count]));
    expect(counts).toEqual(new Map(Object.entries({ '192.0.2.1': 2, '192.0.2.2': 1 })));
  });

  it('are the latest ten groups, also if a client sends from more addresses', async () => {
    const clock = new FakeClock();
    const env = { TRUST_PROXY: '127.0.0.1' };
    await using service = await startService({ clock, env });
    const [client, other] = [await service.client(), await service.client()];
    await other.get('/v1/pets/7');
    for (let number = 0; number < 200; number++) {
      await client.get('/v1/pets/7', { 'x-forwarded-for': `192.0.2.${number}` });
      clock.advance(1);
      if (number % 10 === 9) await saveUsage(service);
    }
    const addresses = (await rejectedOf(client)).map((group: { address: string }) => group.address);
    const latest = Array.from({ length: 10 }, (_, index) => `192.0.2.${199 - index}`);
    expect(addresses).toEqual(latest);
    expect(await rejectedOf(other)).toHaveLength(1);
    // Invented addresses fill neither the memory nor the database.
    const groups = service.store.app.get(DataSource).getRepository('RejectedGroup');
    expect(await groups.count()).toBeLessThan(110);
  });

  it('are omitted after 7 days, and deleted', async () => {
    const clock = new FakeClock();
    await using service = await startService({ clock });
    const client = await service.client();
    await client.get('/v1/pets/7');
    await saveUsage(service);
    clock.advance(7 * 86_400_000);
    expect(await rejectedOf(client)).toHaveLength(1);
    clock.advance(1);
    expect(await rejectedOf(client)).toEqual([]);
    const groups = service.store.app.get(DataSource).getRepository('RejectedGroup');
    await deleteUsageBefore(service, clock.now() - 7 * 86_400_000);
    expect(await groups.count()).toBe(1);
    clock.advance(86_400_000);
    await deleteUsageBefore(service, clock.now() - 7 * 86_400_000);
    expect(await groups.count()).toBe(0);
  });

  it('are of all keys of the client, and keys usage adds the key of the latest request', async () => {
    await using service = await startService({ clock: new FakeClock(Date.now()) });
    const old = await service.client();
    const petstore = (...argv: string[]) =>
      jsonInProcess(service.config.databaseUrl, 'keys', ...argv);
    const { key, id } = await petstore('rotate', old.keyId!);
    const successor = new Client(service.origin, key, id);
    for (const client of [old, successor, old, successor]) await client.get('/v1/pets/7');
    await saveUsage(service);
    const group = { code: 'pet_not_found', operation: 'getPet', address, window: null, count: 4 };
    const times = { at: expect.stringMatching(/Z$/), firstAt: expect.stringMatching(/Z$/) };
    expect(await rejectedOf(successor)).toEqual([{ ...group, ...times }]);
    successor.close();
    const usage = await petstore('usage', id);
    expect(usage.outcomes).toEqual({ pet_not_found: 4 });
    expect(usage.rejected).toEqual([{ ...group, ...times, keyId: id }]);
  });
});
