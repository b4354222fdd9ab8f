import { describeOnPostgres } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { startService, type TestService } from '../support/start-service.js';

const ROWS = 5_000;

describeOnPostgres('tables that were empty when the first statements were planned', (server) => {
  let url: string;
  let service: TestService;
  beforeAll(async () => {
    url = await server.createDatabase();
    service = await startService({ env: { DATABASE_URL: url }, migrate: true });
  });
  afterAll(() => service.close());

  const read = async (): Promise<{ rows: string; keys: string }> => {
    const text = `SELECT sum(seq_tup_read) AS rows, sum(idx_scan) AS keys FROM pg_stat_user_tables
      WHERE relname IN ('pets', 'idempotency_records')`;
    return (await server.query(text, url))[0] as { rows: string; keys: string };
  };

  it('are not read in full for one row', async () => {
    const client = await service.client({ perMinute: 10_000, perDay: 10_000 });
    let key = 0;
    const use = async () => {
      const body = { name: 'Rex', categoryId: 7 };
      const created = await client.post('/v1/pets', body, { 'idempotency-key': `key ${++key}` });
      expect(created.status).toBe(201);
      expect((await client.get(created.headers['location']!)).status).toBe(200);
    };
    // Only autovacuum would tell PostgreSQL how large the tables are.
    for (const table of ['pets', 'idempotency_records']) {
      await server.query(`ALTER TABLE ${table} SET (autovacuum_enabled = false)`, url);
    }
    // After five executions, PostgreSQL keeps the plan of a prepared statement.
    for (let count = 0; count < 10; count++) await use();
    await server.query(
      `INSERT INTO pets (name, category_id) SELECT 'Rex', 7 FROM generate_series(1, ${ROWS})`,
      url,
    );
    await server.query(
      `INSERT INTO idempotency_records
        (client_id, idempotency_key, body_digest, response, created_at)
        SELECT 'client', id, '', '', 1 FROM generate_series(1, ${ROWS}) id`,
      url,
    );
    const before = await read();
    // PostgreSQL counts with a delay.
    await eventually(async () => {
      await use();
      return Number((await read()).keys) >= Number(before.keys) + 10;
    });
    expect(Number((await read()).rows) - Number(before.rows)).toBeLessThan(ROWS);
  });
});
