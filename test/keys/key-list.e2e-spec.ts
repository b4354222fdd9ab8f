import { createHash } from 'node:crypto';
import { type KeyFilter, KeyList } from '../../src/core/keys/key-list.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { useService } from '../support/start-service.js';

describe('the list of keys', () => {
  const clock = new FakeClock();
  const { service } = useService({ clock, env: { BAN_AFTER_REJECTIONS: '1', BAN_SECONDS: '60' } });
  const list = () => service.store.app.get(KeyList);

  it('finds the characters %, _ and ! themselves in a name', async () => {
    const keys = service.store.app.get(KeysService);
    for (const name of ['100%', 'a_b', 'now!', 'plain']) await keys.issue({ name, plan: 'free' });
    for (const [search, names] of Object.entries({
      '%': ['100%'],
      _: ['a_b'],
      '!': ['now!'],
      '%%': [],
      A_B: ['a_b'],
      a: ['a_b', 'plain'],
    })) {
      const found = (await list().find({ search })).map(({ name }) => name);
      expect(found.sort()).toEqual(names);
      expect(await list().count({ search })).toBe(names.length);
    }
  });

  it('finds names in any case, also beyond ASCII', async () => {
    const keys = service.store.app.get(KeysService);
    for (const name of ['Müller & Söhne', 'ŽIVOT [1]', 'Ёлка^]-?*']) {
      await keys.issue({ name, plan: 'free' });
    }
    for (const [search, name] of Object.entries({
      'MÜLLER & s': 'Müller & Söhne',
      'život [1]': 'ŽIVOT [1]',
      'ёЛКА^]-?*': 'Ёлка^]-?*',
    })) {
      expect((await list().find({ search })).map((each) => each.name)).toEqual([name]);
    }
  });

  it('finds a key by its digest, by its last four characters and as it is displayed', async () => {
    const { keyId, key } = await service.client();
    const digest = createHash('sha256').update(key!).digest('hex');
    const idsOf = async (filter: KeyFilter) => (await list().find(filter)).map(({ id }) => id);
    const last4 = key!.slice(-4);
    for (const search of [last4, `...${last4}`, `psk_...${last4}`]) {
      expect(await idsOf({ search })).toContain(keyId);
    }
    expect(await idsOf({ digest })).toEqual([keyId]);
    expect(await idsOf({ digest: digest.toUpperCase() })).toEqual([keyId]);
    expect(await idsOf({ digest: '0'.repeat(64) })).toEqual([]);
  });

  it('has the end of a ban, and the status banned, while the ban lasts', async () => {
    const client = await service.client({ perMinute: 1, perDay: 9 });
    const id = client.keyId!;
    const bannedUntil = async () => (await list().get(id)).bannedUntil;
    const isBanned = async () => (await list().count({ id, status: 'banned' })) === 1;
    expect([await bannedUntil(), await isBanned()]).toEqual([null, false]);
    for (let request = 0; request < 2; request++) await client.get('/v1/pets');
    expectError(await client.get('/v1/pets'), 429, 'key_banned');
    await eventually(isBanned);
    expect(await bannedUntil()).toBe(new Date(clock.now() + 60_000).toISOString());
    clock.advance(60_000);
    expect([await bannedUntil(), await isBanned()]).toEqual([null, false]);
  });
});
