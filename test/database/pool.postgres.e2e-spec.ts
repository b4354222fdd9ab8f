import { DataSource } from 'typeorm';
import { Client as Connection, type Pool } from 'pg';
import { Database, sameStatement } from '../../src/core/database/database.js';
import { isOutage } from '../../src/core/database/database-error.js';
import { unknownKey } from '../support/unknown-key.js';
import { type Answer, Client } from '../support/client.js';
import { describeOnPostgres } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { recordedLog } from '../support/recorded-log.js';
import { jsonInProcess } from '../support/run-program.js';
import { keyCached } from '../support/key-cached.js';
import { startService, useService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };

const one = sameStatement('test.one', 'SELECT 1 AS one');

describeOnPostgres('a pool of one connection to PostgreSQL', (server) => {
  const { service, client } = useService({ env: { DATABASE_POOL_SIZE: '1' } });
  beforeAll(async () => {
    await client.post('/v1/pets', rex);
    await keyCached(service, client);
  });

  const withUnknownKey = { authorization: `Bearer ${unknownKey()}` };
  /** Requests of each kind that needs a connection; more than the pool has. */
  const everyKind = (): Promise<Answer>[] => [
    client.get('/v1/pets'),
    client.get('/v1/pets/1'),
    client.post('/v1/pets', rex),
    client.post('/v1/pets', rex, { 'idempotency-key': 'waits' }),
    service.anonymous().get('/v1/pets', withUnknownKey),
  ];

  it('answers 503 when a request waits too long for a connection, and recovers', async () => {
    const { pool } = service.store.app.get<DataSource & { pool: Pool }>(DataSource);
    const held = await pool.connect();
    try {
      for (const answer of await Promise.all(everyKind())) {
        expectError(answer, 503, 'service_unavailable');
        expectRateHeaders(answer);
        expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
      }
      expect((await client.get('/health/ready')).status).toBe(200);
      expectError(await service.anonymous().get('/v1/pets'), 401, 'missing_api_key');
    } finally {
      held.release();
    }
    const statuses = (await Promise.all(everyKind())).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 201, 201, 401]);
  });

  it.each<[string, (database: Database, lose: () => void) => Promise<unknown>]>([
    [
      'a query',
      ({ dataSource }, lose) => {
        lose();
        return dataSource.query('SELECT 1');
      },
    ],
    [
      'a query of a transaction',
      ({ dataSource }, lose) =>
        dataSource.transaction((manager) => {
          lose();
          return manager.query('SELECT 1');
        }),
    ],
    [
      'a gateway in a transaction',
      (database, lose) =>
        database.dataSource.transaction(() => {
          lose();
          return database.query(one);
        }),
    ],
    ['a commit', ({ dataSource }, lose) => dataSource.transaction(() => Promise.resolve(lose()))],
  ])(
    'closes its connection, and sends no ROLLBACK, if %s gets no response',
    async (_what, work) => {
      await using proxy = await FaultProxy.start(server.port);
      const env = {
        DATABASE_POOL_SIZE: '1',
        DATABASE_URL: service.config.databaseUrl.replace(`:${server.port}`, `:${proxy.port}`),
      };
      await using node = await startService({ env });
      const database = node.store.app.get(Database);
      const sent = jest.spyOn(Connection.prototype, 'query');
      const lost = work(database, () => {
        proxy.lose();
        // New connections work.
        proxy.pass();
      });
      expect(isOutage(await lost.catch((error: unknown) => error))).toBe(true);
      expect(await database.query(one)).toEqual([{ one: 1 }]);
      expect(sent.mock.calls.map(([query]) => query as unknown)).not.toContain('ROLLBACK');
      sent.mockRestore();
    },
  );

  it('serves every request while the role has fewer connections than the pool, and logs that once', async () => {
    const { databaseUrl } = service.config;
    await server.query(
      `CREATE ROLE few LOGIN CONNECTION LIMIT 3;
      GRANT ALL ON ALL TABLES IN SCHEMA public TO few`,
      databaseUrl,
    );
    const { logger, lines } = recordedLog();
    const env = { DATABASE_URL: databaseUrl.replace('postgres@', 'few@') };
    await using limited = await startService({ env, logger });
    const caller = new Client(limited.origin, client.key);
    const creates = Array.from({ length: 6 }, (_none, index) =>
      caller.post('/v1/pets', rex, { 'idempotency-key': `few ${index}` }),
    );
    for (const { status } of await Promise.all(creates)) expect(status).toBe(201);
    const refused = () =>
      lines.filter(({ message }) => /refused a connection/.test(message)).length;
    await eventually(() => Promise.resolve(refused() > 0));
    expect(refused()).toBe(1);
  });
});

describeOnPostgres('a database whose statements time out early by default', (server) => {
  it('does not stop the poller and readiness', async () => {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    await server.query(`ALTER DATABASE ${url.split('/').at(-1)!} SET statement_timeout = '5ms'`);
    await using service = await startService({ env: { DATABASE_URL: url } });
    const slow = sameStatement('test.slow', `SELECT 1 AS one FROM pg_sleep(0.05)`);
    expect(await service.store.app.get(Database).poll(slow)).toEqual([{ one: 1 }]);
  });
});
