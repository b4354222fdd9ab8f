import { DataSource } from 'typeorm';
import { CounterRepository } from '../../src/core/rate-limits/counter.repository.js';
import type { RateLimitCounter } from '../../src/core/rate-limits/rate-limit-counter.entity.js';
import { dayOf, minuteOf } from '../../src/core/time/windows.js';
import { useAdminService } from '../support/admin.js';
import { FakeClock } from '../support/clock.js';
import { eventually } from '../support/eventually.js';
import { onPostgres } from '../support/start-service.js';

const KEYS = '/admin/v1/keys';
/** Several batches of the query. */
const MANY = 1_200;
const NUMBERS = onPostgres
  ? `SELECT number FROM generate_series(1, ${MANY}) number`
  : `WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n
      WHERE number < ${MANY}) SELECT number FROM n`;

describe('the clients near a limit', () => {
  const clock = new FakeClock(Date.parse('2100-06-15T12:00:30Z'));
  const started = useAdminService({ clock });
  const [minute, day] = [minuteOf(clock.now()), dayOf(clock.now())];
  const provider = <Type>(type: new (...given: never[]) => Type) =>
    started.service.store.app.get(type, { strict: false });

  /** Stores counts of this minute and day, as the servers do. */
  const count = (key: string, counts: Partial<RateLimitCounter>) =>
    provider(CounterRepository).save([{ key, minute, minuteUsed: 0, day, dayUsed: 0, ...counts }]);
  const issue = async (terms: object = {}): Promise<string> =>
    (await started.admin.post(KEYS, { name: 'Zoo', plan: 'free', ...terms })).json().id;
  const nearLimit = async () =>
    (await started.admin.get('/admin/v1/usage?hours=1')).json().nearLimit;

  afterEach(async () => {
    const database = provider(DataSource);
    await database.query('DELETE FROM rate_limit_counters');
    await database.query('DELETE FROM api_keys');
  });

  it('are listed with the window that is fullest, the fullest client first', async () => {
    const byMinute = await issue({ name: 'Aquarium' });
    const byDay = await issue({ name: 'Zoo', plan: 'pro' });
    const limits = { perMinute: 10, perDay: 10_000_000_000 };
    const full = await issue({ name: 'Partner', plan: 'enterprise', ...limits });
    await count(byMinute, { minuteUsed: 49, dayUsed: 801 });
    await count(byDay, { minuteUsed: 241, dayUsed: 8_500 });
    await count(full, { minuteUsed: 9, dayUsed: 10_000_000_000 });
    expect(await nearLimit()).toEqual([
      {
        keyId: full,
        clientId: full,
        name: 'Partner',
        plan: 'enterprise',
        window: 'day',
        used: 10_000_000_000,
        limit: 10_000_000_000,
      },
      {
        keyId: byDay,
        clientId: byDay,
        name: 'Zoo',
        plan: 'pro',
        window: 'day',
        used: 8_500,
        limit: 10_000,
      },
      {
        keyId: byMinute,
        clientId: byMinute,
        name: 'Aquarium',
        plan: 'free',
        window: 'minute',
        used: 49,
        limit: 60,
      },
    ]);
  });

  it('are those of the current windows that have used more than 80 %, and have a valid key', async () => {
    const [atLimit, earlier, yesterday] = [await issue(), await issue(), await issue()];
    await count(atLimit, { minuteUsed: 48, dayUsed: 800 });
    await count(earlier, { minute: minute - 1, minuteUsed: 60, dayUsed: 60 });
    await count(yesterday, { day: day - 1, minute: minute - 1_440, dayUsed: 1_000 });
    const full = { minuteUsed: 60, dayUsed: 1_000 };
    const revoked = await issue();
    await started.admin.post(`${KEYS}/${revoked}/revoke`, {});
    const disabled = await issue();
    await started.admin.post(`${KEYS}/${disabled}`, { disabled: true }, {}, 'PATCH');
    const expired = await issue({ expiresAt: new Date(clock.now() + 1).toISOString() });
    clock.advance(2);
    for (const key of [revoked, disabled, expired, 'ip:192.0.2.1', `usage:${atLimit}`, 'other']) {
      await count(key, full);
    }
    expect(await nearLimit()).toEqual([]);
    await count(atLimit, { minuteUsed: 49 });
    expect(await nearLimit()).toMatchObject([{ keyId: atLimit, window: 'minute', used: 49 }]);
  });

  it('are listed once, with their latest valid key and the limits of their plan', async () => {
    const first = await issue();
    clock.advance(1);
    const rotated = (await started.admin.post(`${KEYS}/${first}/rotate`, {})).json().id;
    await count(first, { dayUsed: 1_000 });
    const listed = { clientId: first, window: 'day', used: 1_000 };
    expect(await nearLimit()).toMatchObject([{ ...listed, keyId: rotated, limit: 1_000 }]);
    await started.admin.post(`${KEYS}/${rotated}/revoke`, {});
    expect(await nearLimit()).toMatchObject([{ ...listed, keyId: first }]);
    await started.admin.post(`${KEYS}/${first}`, { plan: 'pro' }, {}, 'PATCH');
    expect(await nearLimit()).toEqual([]);
    const limits = { plan: 'enterprise', perMinute: 1, perDay: 500 };
    await started.admin.post(`${KEYS}/${first}`, limits, {}, 'PATCH');
    // They may have used more than a smaller plan allows.
    expect(await nearLimit()).toMatchObject([{ ...listed, limit: 500 }]);
  });

  it(`are the 50 fullest of ${MANY}`, async () => {
    const database = provider(DataSource);
    const numbers = `FROM (${NUMBERS}) numbers`;
    await database.query(
      `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes, per_minute,
        per_day, created_at, changed_at)
      SELECT 'key_' || number, 'key_' || number, 'Zoo ' || number, 'digest ' || number, '0000',
        'enterprise', 'pets:read', 10, 10000, 1, 3 ${numbers}`,
    );
    await database.query(
      `INSERT INTO rate_limit_counters (rate_limit_key, minute, minute_used, day, day_used)
      SELECT 'key_' || number, ${minute}, 9, ${day}, 8700 + number ${numbers}`,
    );
    const fullest = Array.from({ length: 50 }, (_, index) => {
      const id = `key_${MANY - index}`;
      const used = 8_700 + MANY - index;
      const client = { keyId: id, clientId: id, name: `Zoo ${MANY - index}`, plan: 'enterprise' };
      return { ...client, window: 'day', used, limit: 10_000 };
    });
    expect(await nearLimit()).toEqual(fullest);
  });

  it('appear while they send requests', async () => {
    const { service } = started;
    const client = await service.client({ plan: 'free', perMinute: undefined, perDay: undefined });
    for (let requests = 0; requests < 50; requests++) await client.get('/v1/pets');
    // Counts are saved every second.
    await eventually(async () => (await nearLimit())[0]?.used === 50);
    expect(await nearLimit()).toMatchObject([{ keyId: client.keyId, window: 'minute' }]);
  });
});
