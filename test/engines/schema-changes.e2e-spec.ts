import { Client as PostgresClient } from 'pg';
import { Database } from '../../src/database/database.js';
import type { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import type { PostgresServer } from '../support/postgres.js';
import { serviceOnPostgres } from '../support/service-on-postgres.js';
import { startService, type TestService } from '../support/start-service.js';

const rex = { name: 'Rex', categoryId: 7 };

describeWith('postgres', 'PostgreSQL under a running node', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  let url: string;
  let service: TestService;
  let client: Client;
  beforeAll(async () => {
    ({ server, url, service } = await serviceOnPostgres(keep, initdb));
    client = await service.client();
  });

  let keys = 0;
  const everyKind = async (): Promise<number[]> => {
    const path = (await client.post('/v1/pets', rex)).headers.location?.replace(/^.*\/v1/, '/v1');
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => client.get('/v1/pets')),
      client.get(path ?? '/v1/pets/1'),
      client.post('/v1/pets', rex),
      client.post('/v1/pets', rex, { 'idempotency-key': `key ${keys++}` }),
    ]);
    return [...new Set(answers.map(({ status }) => status))].sort();
  };

  it.each([
    'ALTER TABLE pets ALTER COLUMN name TYPE varchar(300)',
    'ALTER TABLE pets ADD COLUMN unused text',
    'ALTER TABLE pets DROP COLUMN unused',
    'ALTER TABLE idempotency_records ALTER COLUMN body_digest TYPE varchar(300)',
    'ALTER TABLE api_keys ALTER COLUMN name TYPE varchar(300)',
  ])('answers as before after %s', async (change) => {
    // Enough for every connection to have prepared what it needs.
    for (let round = 0; round < 3; round++) expect(await everyKind()).toEqual([200, 201]);
    await server.query(change, url);
    expect(await everyKind()).toEqual([200, 201]);
    expect(await everyKind()).toEqual([200, 201]);
  });

  it('answers 200 or 503 while a table is locked, and as before when it is not', async () => {
    await using fresh = await startService({ env: { DATABASE_URL: url } });
    const other = await fresh.client();
    const holder = new PostgresClient({ connectionString: url });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_none, index) =>
          other.get(index % 2 === 0 ? '/v1/pets' : '/v1/pets/1'),
        ),
      );
      expect([...new Set(answers.map(({ status }) => status))]).toEqual([503]);
    } finally {
      await holder.end();
    }
    expect((await other.get('/v1/pets')).status).toBe(200);
  });

  it('is away where an empty database has its name, as after a failover that came too early', async () => {
    const name = new URL(url).pathname.slice(1);
    const maintenance = url.replace(/[^/]*$/, 'postgres');
    const endAll = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
    const exchange = async (...statements: string[]): Promise<void> => {
      // Whoever connects meanwhile is in the way of a name.
      await eventually(async () => {
        await server.query(endAll, maintenance);
        return server.query(statements[0]!, maintenance).then(
          () => true,
          () => false,
        );
      });
      for (const statement of statements.slice(1)) await server.query(statement, maintenance);
    };
    const ready = async () => (await client.get('/health/ready')).status;
    await exchange(`ALTER DATABASE ${name} RENAME TO ${name}_kept`, `CREATE DATABASE ${name}`);
    try {
      await eventually(async () => (await ready()) === 503);
      const answers = await Promise.all([
        client.get('/v1/pets'),
        client.get('/v1/pets/1'),
        client.post('/v1/pets', rex),
        client.post('/v1/pets', rex, { 'idempotency-key': 'meanwhile' }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
    } finally {
      await exchange(`ALTER DATABASE ${name} RENAME TO ${name}_empty`);
      await exchange(`ALTER DATABASE ${name}_kept RENAME TO ${name}`);
    }
    await eventually(async () => (await ready()) === 200);
    await eventually(async () => (await client.get('/v1/pets')).status === 200);
  });

  it('never uses a connection again on which a statement has timed out', async () => {
    await using single = await startService({
      env: { DATABASE_URL: url, DATABASE_POOL_SIZE: '1' },
    });
    const database = single.store.app.get(Database);
    const statement = (postgres: string) => ({ name: postgres, sqlite: '', postgres });
    const pid = async () => await database.query(statement('SELECT pg_backend_pid() AS pid'));
    const before = await pid();
    await expect(database.write(statement('SELECT pg_sleep(30)'))).rejects.toMatchObject({
      driverError: { code: '57014' },
    });
    // At once: whatever else uses the connection would find out, and close it.
    expect(await pid()).not.toEqual(before);
  });
});
