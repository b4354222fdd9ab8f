import { DataSource, type QueryRunner } from 'typeorm';
import { UsageRecorder } from '../../src/core/usage/usage-recorder.js';
import { unknownKey } from '../support/unknown-key.js';
import type { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { connectTo, migrate, MIGRATION_LOCK } from '../support/data-source.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { PostgresServer } from '../support/postgres.js';
import { keyCached } from '../support/key-cached.js';
import { startService, type TestService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7, status: 'sold' };

describeWith('postgres', 'on PostgreSQL', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  let url: string;
  let service: TestService;
  let client: Client;

  beforeAll(async () => {
    server = keep(await PostgresServer.start(initdb));
    url = await server.createDatabase();
    service = keep(await startService({ env: { DATABASE_URL: url }, migrate: true }));
    client = await service.client();
  });

  it('inserts all of them but those that the database refuses', async () => {
    await server.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.name LIKE 'no%' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON pets FOR EACH ROW EXECUTE FUNCTION refuse()`,
      url,
    );
    const names = ['a', 'no 1', 'b', 'no 2', 'c'];
    try {
      const answers = await Promise.all(
        names.map((name) => client.post('/v1/pets', { name, categoryId: -6 })),
      );
      expect(answers.map(({ status }) => status)).toEqual([201, 500, 201, 500, 201]);
    } finally {
      await server.query('DROP FUNCTION refuse CASCADE', url);
    }
    const rows = await server.query('SELECT name FROM pets WHERE category_id = -6', url);
    expect((rows as { name: string }[]).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c']);
  });

  it('counts no request twice whose usage PostgreSQL stores when nobody waits any more', async () => {
    const recorder = service.store.app.get(UsageRecorder);
    await recorder.flush();
    const caller = await service.client();
    expect((await caller.get('/v1/pets')).status).toBe(200);
    const backends = (await server.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND pid <> pg_backend_pid() AND application_name <> 'petstore poller'`,
      url,
    )) as { pid: number }[];
    const pids = backends.map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await recorder.flush();
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    const alive = `SELECT pid FROM pg_stat_activity WHERE state <> 'idle' AND pid IN (${pids.join()})`;
    await eventually(async () => (await server.query(alive, url)).length === 0);
    await recorder.flush();
    const stored = `SELECT coalesce(sum(used), 0)::int AS used FROM usage_hours
      WHERE client_id = '${caller.keyId}'`;
    const [{ used }] = (await server.query(stored, url)) as [{ used: number }];
    expect(used).toBeLessThanOrEqual(1);
  });

  it('syncs every commit', async () => {
    const [row] = await service.store.app.get(DataSource).query('SHOW synchronous_commit');
    expect(row).toEqual({ synchronous_commit: 'on' });
  });

  it.each([
    ['two statements', (runner: QueryRunner) => runner.query('SELECT 1')],
    ['the last statement and the commit', () => Promise.resolve()],
  ])('reports a connection that breaks between %s as an outage', async (_where, rest) => {
    const source = service.store.app.get(DataSource);
    const work = source.transaction(async ({ queryRunner }) => {
      const [{ pid }] = (await queryRunner!.query('SELECT pg_backend_pid() AS pid')) as [
        { pid: number },
      ];
      await server.query(`SELECT pg_terminate_backend(${pid})`, url);
      await eventually(() => Promise.resolve(queryRunner!.isReleased));
      await rest(queryRunner!);
    });
    await expect(work).rejects.toMatchObject({ code: '08006' });
  });

  it('migrates on two nodes at once', async () => {
    const target = await server.createDatabase();
    const ran = await Promise.all(
      [1, 2, 3].map(async () => {
        const source = await connectTo(target);
        const names = await migrate(source);
        await source.destroy();
        return names.length;
      }),
    );
    expect(ran.filter((count) => count > 0)).toHaveLength(1);
  });

  it('gives a migration up while another session migrates, in time for the start to say so', async () => {
    const url = await server.createDatabase();
    const source = await connectTo(url);
    await source.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`);
    const startedAt = performance.now();
    await expect(migrate(source)).rejects.toThrow('due to lock timeout');
    expect(performance.now() - startedAt).toBeGreaterThan(4_500);
    await source.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`);
    expect(await migrate(source)).not.toEqual([]);
    await source.destroy();
  });

  describe('that is away', () => {
    beforeAll(() => keyCached(service, client));

    async function expectOutage(): Promise<void> {
      const [list, create, unknown] = await Promise.all([
        client.get('/v1/pets'),
        client.post('/v1/pets', rex),
        service.anonymous().get('/v1/pets', { authorization: `Bearer ${unknownKey()}` }),
      ]);
      for (const answer of [list, create, unknown]) {
        expectError(answer, 503, 'service_unavailable');
        expectRateHeaders(answer);
        expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      }
      expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
      expectError(await client.get('/v1/nope'), 404, 'not_found');
      expectError(await client.send('/v1/pets', { method: 'PUT' }), 405, 'method_not_allowed');
      expect((await client.get('/health/live')).status).toBe(200);
      expect((await client.get('/health/ready')).status).toBe(503);
    }
    async function expectRecovery(): Promise<void> {
      await eventually(async () => (await client.post('/v1/pets', rex)).status === 201);
      expect((await client.get('/v1/pets')).status).toBe(200);
      expect((await client.get('/health/ready')).status).toBe(200);
    }

    it('costs 503 where it is needed, and nothing else; it is used again when it is back', async () => {
      await server.stop();
      try {
        await expectOutage();
      } finally {
        await server.run();
      }
      await expectRecovery();
    });

    it('hangs nothing when it stalls', async () => {
      server.stall();
      try {
        await expectOutage();
      } finally {
        server.resume();
      }
      await expectRecovery();
    });
  });
});
