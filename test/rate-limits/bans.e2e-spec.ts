import { DataSource } from 'typeorm';
import { BanRepository } from '../../src/core/rate-limits/bans/ban.repository.js';
import type { Ban } from '../../src/core/rate-limits/bans/bans.js';
import { RateLimitBan } from '../../src/core/rate-limits/bans/rate-limit-ban.entity.js';
import { KeysService } from '../../src/core/keys/keys.service.js';
import { eventually } from '../support/eventually.js';
import { useService } from '../support/start-service.js';

/** Before every change. */
const SINCE_MS = 1;
const known: Ban = { at: 5_000, until: 90_000, bans: 2 };

describe(BanRepository.name, () => {
  const { service } = useService({ env: { BAN_AFTER_REJECTIONS: '3' } });
  let bans: BanRepository;
  beforeAll(() => {
    bans = service.store.app.get(BanRepository);
  });

  const recorded = async (key: string): Promise<unknown> => {
    const rows = await bans.changedSince(SINCE_MS);
    const { at, until, bans: count } = rows.find((row) => row.key === key)!;
    return { at: Number(at), until: Number(until), bans: Number(count) };
  };
  const lift = (key: string, nowMs = known.at): Promise<number> =>
    service.store.app.get(DataSource).transaction((manager) => bans.lift(key, nowMs, manager));

  it.each([
    ['a later ban', { at: 95_000, until: 99_000, bans: 1 }, { at: 95_000, until: 99_000, bans: 1 }],
    ['a shorter one', { at: 6_000, until: 80_000, bans: 1 }, { ...known, at: 6_000 }],
    [
      'an earlier, longer one',
      { at: 4_000, until: 91_000, bans: 3 },
      { ...known, until: 91_000, bans: 3 },
    ],
    ['the same one', known, known],
  ])('keeps the later end, where a node records %s', async (what, second, expected) => {
    await bans.record(what, known);
    await bans.record(what, second);
    expect(await recorded(what)).toEqual(expected);
  });

  it('keeps a ban lifted, until a later one', async () => {
    await bans.record('lifted', known);
    expect(await lift('lifted')).toBe(known.until);
    await bans.record('lifted', { ...known, at: known.at - 1 });
    expect(await recorded('lifted')).toEqual({ ...known, until: 0 });
    const later = { at: known.at + 1, until: 50_000, bans: 1 };
    await bans.record('lifted', later);
    expect(await recorded('lifted')).toEqual(later);
  });

  it('lifts a ban that a clock ahead of the database started', async () => {
    await bans.record('ahead', known);
    expect(await lift('ahead', known.at - 1)).toBe(known.until);
    expect(await recorded('ahead')).toEqual({ ...known, until: 0 });
  });

  it('lifts a ban that the database does not know: its reply from Redis may be lost', async () => {
    const client = await service.client({ plan: 'enterprise', perMinute: 1, perDay: 9 });
    const code = async () => (await client.get('/v1/pets')).json().code as unknown;
    await eventually(async () => (await code()) === 'key_banned');
    const dataSource = service.store.app.get(DataSource);
    const isSaved = () => dataSource.manager.existsBy(RateLimitBan, { key: client.keyId! });
    await eventually(isSaved);
    await dataSource.manager.delete(RateLimitBan, { key: client.keyId! });
    await service.store.app.get(KeysService).unban(client.keyId!);
    await eventually(async () => (await code()) === 'rate_limit_exceeded');
  });
});
