import { DataSource } from 'typeorm';
import { LastUses } from '../../src/keys/key-directory.js';
import { KeyList } from '../../src/keys/key-list.js';
import { FakeClock } from '../support/clock.js';
import { startService, type TestService } from '../support/start-service.js';

const now = Date.parse('2026-06-15T12:00:00Z');

describe('the last use of a key', () => {
  let clock: FakeClock;
  let service: TestService;
  beforeEach(async () => {
    clock = new FakeClock(now);
    service = await startService({ clock });
  });
  afterEach(() => service?.close());

  const query = (sql: string) => service.store.app.get(DataSource).query<unknown[]>(sql);
  const save = () => service.store.app.get(LastUses).beforeApplicationShutdown();
  const lastUses = async () => {
    const keys = await service.store.app.get(KeyList).find({ sort: 'last-used' });
    return Object.fromEntries(keys.map(({ id, lastUsedAt }) => [id, lastUsedAt]));
  };

  it('is told of each key, and never goes back', async () => {
    const [zoo, ark] = [await service.client(), await service.client()];
    expect(await lastUses()).toEqual({ [zoo.keyId!]: null, [ark.keyId!]: null });
    await zoo.get('/v1/pets');
    await save();
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now, [ark.keyId!]: null });
    clock.advance(7_000);
    for (const client of [zoo, ark]) await client.get('/v1/pets');
    await save();
    expect(await lastUses()).toEqual({ [zoo.keyId!]: now + 7_000, [ark.keyId!]: now + 7_000 });
    clock.advance(-5_000);
    await zoo.get('/v1/pets');
    await save();
    expect(await lastUses()).toMatchObject({ [zoo.keyId!]: now + 7_000 });
    expect(await query('SELECT id FROM api_keys WHERE last_used_at IS NOT NULL')).toEqual([]);
  });
});
