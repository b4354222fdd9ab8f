import { DataSource } from 'typeorm';
import { useAdminService } from '../support/admin.js';
import { onPostgres } from '../support/start-service.js';

const KEYS = '/admin/v1/keys';
type QueryParameters = Parameters<DataSource['query']>[1];
const OLD_KEYS = 20_000;
const NUMBERS = onPostgres
  ? `SELECT number FROM generate_series(1, ${OLD_KEYS}) number`
  : `WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n
      WHERE number < ${OLD_KEYS}) SELECT number FROM n`;

describe(`a client with ${OLD_KEYS} revoked and expired keys`, () => {
  const started = useAdminService();
  const database = () => started.service.store.app.get(DataSource);
  let id: string;
  beforeAll(async () => {
    id = (await started.admin.post(KEYS, { name: 'Zoo', plan: 'free' })).json().id;
    await database().query(
      `INSERT INTO api_keys (id, client_id, name, digest, last_four, plan, scopes, created_at,
        expires_at, revoked_at, replaced_by, changed_at)
      SELECT 'old_' || number, '${id}', 'Zoo', 'digest ' || number, '0000', 'free', 'pets:read', 1,
        CASE WHEN number % 2 = 0 THEN 2 END, CASE WHEN number % 2 = 1 THEN 2 END, '${id}', 3
      FROM (${NUMBERS}) numbers`,
    );
    if (onPostgres) await database().query('ANALYZE api_keys');
  });

  const change = (changes: object) => started.admin.post(`${KEYS}/${id}`, changes, {}, 'PATCH');

  it('changes without touching them, while other callers are served', async () => {
    const other = await started.service.client();
    const [changed, created] = await Promise.all([
      change({ plan: 'pro', scopes: ['pets:read'], name: 'Ark', disabled: true }),
      other.post('/v1/pets', { name: 'Rex', categoryId: 1 }),
    ]);
    expect([changed.status, created.status]).toEqual([200, 201]);
    expect(changed.json()).toMatchObject({ plan: 'pro', name: 'Ark' });
    const [touched] = await database().query(
      `SELECT COUNT(*) AS "rows" FROM api_keys WHERE client_id = '${id}' AND changed_at > 3`,
    );
    expect(Number(touched.rows)).toBe(1);
    const records = (await started.admin.get(`/admin/v1/audit?key=${id}`)).json();
    expect(records).toHaveLength(5);
  });

  it('changes its plan and rotates by statements that read an index', async () => {
    const found: [string, QueryParameters][] = [];
    const { logger } = database();
    const spy = jest.spyOn(logger, 'logQuery').mockImplementation((query, parameters = []) => {
      if (/SELECT.*"api_keys"/s.test(query)) found.push([query, parameters]);
    });
    await change({ disabled: false, plan: 'free' });
    expect((await started.admin.post(`${KEYS}/${id}/rotate`, {})).status).toBe(201);
    spy.mockRestore();
    const explain = onPostgres ? 'EXPLAIN (FORMAT JSON) ' : 'EXPLAIN QUERY PLAN ';
    const plans: string[] = [];
    for (const [query, parameters] of found) {
      if (!query.includes('FOR UPDATE')) {
        plans.push(JSON.stringify(await database().query(explain + query, parameters)));
      }
    }
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan|SCAN/);
    expect(plans.filter((plan) => plan.includes('api_keys_usable'))).toHaveLength(2);
  });
});
