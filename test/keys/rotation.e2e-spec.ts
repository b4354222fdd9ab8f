import { KeyList } from '../../src/core/keys/key-list.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

const GRACE_MS = 60_000;

describe('a rotation', () => {
  const clock = new FakeClock();
  const { service } = useService({ clock });
  const keys = () => service.store.app.get(KeysService);
  const clientOf = ({ key, record }: { key: string; record: { id: string } }) =>
    new Client(service.origin, key, record.id);
  const status = async (client: Client) => (await client.get('/v1/pets')).status;

  it('whose response was lost can be repeated: it replaces the unused successor', async () => {
    const expiresAt = clock.now() + 10 * GRACE_MS;
    const old = await service.client({ expiresAt });
    const lost = await keys().rotate(old.keyId!, GRACE_MS);
    clock.advance(GRACE_MS / 2);
    const kept = await keys().rotate(old.keyId!, GRACE_MS);
    expect(kept.record).toMatchObject({ clientId: old.keyId, expiresAt });
    expect(kept.replaced.expiresAt).toBe(clock.now() + GRACE_MS);
    expectError(await clientOf(lost).get('/v1/pets'), 401, 'invalid_api_key');
    expect(await status(clientOf(kept))).toBe(200);
    expect(await status(old)).toBe(200);
  });

  it('leaves one valid successor of any number of simultaneous rotations', async () => {
    const old = await service.client();
    const rotated = await Promise.all(
      Array.from({ length: 8 }, () => keys().rotate(old.keyId!, GRACE_MS)),
    );
    const statuses = await Promise.all(rotated.map((each) => status(clientOf(each))));
    expect(statuses.filter((each) => each === 200)).toHaveLength(1);
    const found = await service.store.app
      .get(KeyList)
      .find({ search: old.keyId!, status: 'active' });
    expect(found).toHaveLength(2);
  });

  it.each([
    ['accepted', '/v1/pets'],
    ['rejected', '/v1/pets?limit=none'],
  ])('is final once the successor was used, also by an %s request', async (_what, path) => {
    const old = await service.client();
    const { record, key } = await keys().rotate(old.keyId!, GRACE_MS);
    await new Client(service.origin, key).get(path);
    const again = () => keys().rotate(old.keyId!, GRACE_MS);
    await expect(again()).rejects.toMatchObject({
      code: 'key_already_rotated',
      message: expect.stringContaining(record.id),
    });
    await keys().revoke(record.id);
    await expect(again()).rejects.toMatchObject({ code: 'key_already_rotated' });
  });

  it('and the first use of its successor, when they race, never both take place', async () => {
    for (let round = 0; round < 20; round++) {
      const old = await service.client();
      const successor = clientOf(await keys().rotate(old.keyId!, GRACE_MS));
      const [used, rotated] = await Promise.all([
        status(successor),
        keys()
          .rotate(old.keyId!, GRACE_MS)
          .then(
            () => 'rotated',
            (error: { code: string }) => error.code,
          ),
      ]);
      expect([
        [200, 'key_already_rotated'],
        [401, 'rotated'],
      ]).toContainEqual([used, rotated]);
    }
  });

  it.each<[string, (id: string) => Promise<unknown>]>([
    ['revoked', (id) => keys().revoke(id)],
    ['disabled', (id) => keys().set(id, { disabled: true })],
    ['expired', (id) => keys().set(id, { expiresAt: clock.now() })],
  ])('is rejected for a key that is %s', async (what, end) => {
    const old = await service.client();
    await end(old.keyId!);
    await expect(keys().rotate(old.keyId!, GRACE_MS)).rejects.toMatchObject({
      code: 'key_revoked',
      message: expect.stringContaining(what),
    });
  });

  it('keeps the end of the old key', async () => {
    const old = await service.client();
    await keys().rotate(old.keyId!, GRACE_MS);
    const change = keys().set(old.keyId!, { expiresAt: null });
    await expect(change).rejects.toMatchObject({ code: 'key_revoked' });
  });
});

describe('an operator', () => {
  const clock = new FakeClock();
  const { service } = useService({ clock });
  const keys = () => service.store.app.get(KeysService);
  const find = (id: string) => service.store.app.get(KeyList).get(id);

  it('can disable a key, and enable it again', async () => {
    const client = await service.client();
    const rejects = async () => (await client.get('/v1/pets')).text.includes('invalid_api_key');
    expect(await rejects()).toBe(false);
    await keys().set(client.keyId!, { disabled: true });
    await eventually(rejects);
    const listed = await service.store.app.get(KeyList).find({ status: 'disabled' });
    expect(listed.map(({ id }) => id)).toEqual([client.keyId]);
    await keys().set(client.keyId!, { disabled: false });
    await eventually(async () => !(await rejects()));
  });

  it('can rename a key and change its expiry', async () => {
    const client = await service.client();
    await keys().set(client.keyId!, { name: 'Ark' });
    await keys().set(client.keyId!, { expiresAt: clock.now() + 1_000 });
    expect(await find(client.keyId!)).toMatchObject({
      name: 'Ark',
      expiresAt: new Date(clock.now() + 1_000).toISOString(),
    });
    await keys().set(client.keyId!, { expiresAt: null });
    clock.advance(2_000);
    expect((await client.get('/v1/pets')).status).toBe(200);
  });

  it('sees the address of the last use, of an unused key at once', async () => {
    const client = await service.client();
    await client.get('/v1/pets');
    expect(await find(client.keyId!)).toMatchObject({
      lastUsedAt: new Date(clock.now()).toISOString(),
      lastUsedFrom: '127.0.0.1',
    });
  });

  it('keeps the counts of a client when its plan changes', async () => {
    const client = await service.client({ plan: 'pro' });
    for (let request = 0; request < 61; request++) await client.get('/v1/pets');
    const remaining = async (of: string) => {
      const { headers } = await client.get('/v1/usage');
      return headers['x-ratelimit-limit'] === of && headers['x-ratelimit-remaining'];
    };
    await keys().set(client.keyId!, { plan: 'free' });
    await eventually(async () => (await remaining('60')) === '0');
    expectError(await client.get('/v1/pets'), 429, 'rate_limit_exceeded');
    await keys().set(client.keyId!, { plan: 'business' });
    await eventually(async () => (await remaining('1000')) === '939');
  });
});
