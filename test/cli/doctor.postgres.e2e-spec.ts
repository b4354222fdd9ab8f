import { readFileSync } from 'node:fs';
import { Client as PgClient } from 'pg';
import { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { PostgresServer } from '../support/postgres.js';
import { recordedLog } from '../support/recorded-log.js';
import { RedisServer } from '../support/redis.js';
import { type Finding, jsonInProcess, runInProcess } from '../support/run-program.js';
import { startService } from '../support/start-service.js';

const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

async function checks(settings: Record<string, string>): Promise<Finding[]> {
  Object.assign(process.env, settings);
  const { out, err } = await runInProcess('doctor', '--json');
  expect(err).toBe('');
  return (JSON.parse(out) as { checks: Finding[] }).checks;
}

describeWith('postgres', 'petstore doctor on PostgreSQL', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  beforeAll(async () => {
    server = keep(await PostgresServer.start(initdb, 'fsync=on'));
  });

  const failures = async (url: string) =>
    (await checks({ DATABASE_URL: url })).filter(({ status }) => status === 'failed');

  /** A migrated database, and its URL for a role without rights. */
  async function databaseFor(role: string) {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    await server.query(`CREATE ROLE ${role} LOGIN`);
    return { url, restricted: url.replace('postgres@', `${role}@`) };
  }

  it('reports the version, an outdated schema, and the offset of the clock', async () => {
    const url = await server.createDatabase();
    // Of another application.
    await server.query(`CREATE TABLE migrations AS SELECT 1 AS id, 'Other1' AS name`, url);
    expect(await checks({ DATABASE_URL: url })).toContainEqual(
      expect.objectContaining({
        check: 'schema',
        status: 'failed',
        fix: expect.stringMatching(/^run petstore migrate/),
      }),
    );
    await jsonInProcess(url, 'migrate');
    const found = await checks({ DATABASE_URL: url });
    const details = Object.fromEntries(found.map(({ check, detail }) => [check, detail]));
    expect(details).toMatchObject({
      database: expect.stringMatching(/^PostgreSQL \d+/),
      schema: expect.stringMatching(/^up to date/),
      clock: expect.stringMatching(/^database clock is .* (?:ahead of|behind) this machine$/),
    });
  });

  it('reports a schema that the role may not use', async () => {
    const { url, restricted } = await databaseFor('outsider');
    await server.query('REVOKE USAGE ON SCHEMA public FROM PUBLIC', url);
    expect(await failures(restricted)).toEqual([
      expect.objectContaining({
        detail: expect.stringMatching(/: no schema of the search_path can be used$/),
        fix: expect.stringMatching(/^grant the role in DATABASE_URL USAGE/),
      }),
    ]);
  });

  it('reports tables and columns that are missing', async () => {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    await server.query(
      'ALTER TABLE pets RENAME COLUMN status TO st; ALTER TABLE api_keys RENAME TO x',
      url,
    );
    const found = await failures(url);
    expect(found.map(({ check, detail }) => [check, detail]).sort()).toEqual([
      ['schema', 'column pets.status does not exist'],
      ['schema', 'relation "api_keys" does not exist'],
    ]);
  });

  it('reports a table that another session locks, and not that something is missing', async () => {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    const other = new PgClient({ connectionString: url });
    await other.connect();
    await other.query('BEGIN; LOCK TABLE usage_hours IN ACCESS EXCLUSIVE MODE');
    const found = await failures(url);
    await other.end();
    expect(found).toEqual([
      expect.objectContaining({
        check: 'database',
        fix: expect.stringMatching(/^another session holds a lock/),
      }),
    ]);
  });

  it('reports fixes that work for a role without rights', async () => {
    const url = await server.createDatabase();
    await server.query('CREATE ROLE bare LOGIN');
    const bare = url.replace('postgres@', 'bare@');
    const fix = async () => (await failures(bare))[0]?.fix ?? 'none';
    expect(await fix()).toMatch(/^run petstore migrate, with a role that may create tables/);
    await jsonInProcess(url, 'migrate');
    expect(await fix()).toMatch(/^grant the missing privilege/);
    await server.query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO bare', url);
    const [failure] = await failures(bare);
    expect(failure).toMatchObject({
      detail: expect.stringMatching(/lacks (?:INSERT|UPDATE|DELETE), .* on pets/),
      fix: expect.stringMatching(/operating\.md/),
    });
  });

  it('accepts a role with exactly the rights of the guide, and the service works with it', async () => {
    const { url, restricted } = await databaseFor('exact');
    const granted = 'SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public';
    await server.query(`GRANT ${granted} TO exact`, url);
    await server.query('REVOKE INSERT, UPDATE, DELETE ON petstore_migrations FROM exact', url);
    expect(await failures(restricted)).toEqual([]);
    await using service = await startService({ env: { DATABASE_URL: restricted } });
    const client = await service.client();
    const rex = { name: 'Rex', categoryId: 1 };
    const headers = { 'idempotency-key': 'one' };
    expect((await client.post('/v1/pets', rex, headers)).status).toBe(201);
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect(await jsonInProcess(restricted, 'keys', 'list')).toHaveLength(1);
  });

  it.each([
    ['role that may only read', 'reader', '', /^grant the rights/],
    [
      'read-only PostgreSQL, such as a standby,',
      'standby',
      'GRANT ALL ON ALL TABLES IN SCHEMA public TO standby;' +
        'ALTER ROLE standby SET default_transaction_read_only = on',
      /^point DATABASE_URL at the primary/,
    ],
  ])('a %s causes a 503, which readiness shows', async (_cause, role, sql, fix) => {
    const { url, restricted } = await databaseFor(role);
    const { key } = await jsonInProcess(url, 'keys', 'issue', '--name', 'k', '--plan', 'pro');
    await server.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}; ${sql}`, url);
    expect(await failures(restricted)).toEqual([
      expect.objectContaining({ check: 'database', fix: expect.stringMatching(fix) }),
    ]);
    await using service = await startService({ env: { DATABASE_URL: restricted } });
    const client = new Client(service.origin, key);
    const { status, text } = await client.post('/v1/pets', { name: 'Rex', categoryId: 1 });
    expect({ status, text }).toEqual({
      status: 503,
      text: expect.stringContaining('service_unavailable'),
    });
    const ready = await service.anonymous().get('/health/ready');
    expect(ready.json()).toMatchObject({
      status: 'degraded',
      checks: { database: 'no permission' },
    });
  });

  it('reports a sequence that is behind its table, and so does the log of an insert', async () => {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    expect(await failures(url)).toEqual([]);
    await server.query(`INSERT INTO pets (id, name, category_id) VALUES (1, 'Copied', 1)`, url);
    const [{ detail, fix }] = (await failures(url)) as [Finding];
    expect(detail).toBe('the sequence public.pets_id_seq is behind pets.id, so that inserts fail');
    const { logger, lines } = recordedLog();
    await using service = await startService({ env: { DATABASE_URL: url }, logger });
    const client = await service.client();
    const create = () => client.post('/v1/pets', { name: 'Rex', categoryId: 1 });
    expect((await create()).status).toBeGreaterThanOrEqual(400);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        message: expect.stringMatching(/behind the table.*SELECT setval\(.*'id'\), max\("id"\)/),
      }),
    );
    await server.query(fix!, url);
    expect(await failures(url)).toEqual([]);
    expect((await create()).status).toBe(201);
  });

  it('reports a sequence that is not owned by its column', async () => {
    const url = await server.createDatabase();
    await jsonInProcess(url, 'migrate');
    await server.query(
      `ALTER TABLE pets ALTER id DROP IDENTITY;
       CREATE SEQUENCE pet_numbers;
       ALTER TABLE pets ALTER id SET DEFAULT nextval('pet_numbers')`,
      url,
    );
    const [{ check, detail, fix }] = (await failures(url)) as [Finding];
    expect([check, detail]).toEqual([
      'sequences',
      'the sequence pet_numbers is not owned by pets.id',
    ]);
    await server.query(fix!, url);
    expect(await failures(url)).toEqual([]);
  });

  it('fails if PostgreSQL does not survive a power failure', async () => {
    const unsafe = keep(await PostgresServer.start(initdb, 'fsync=off', 'full_page_writes=off'));
    const url = await unsafe.createDatabase();
    await jsonInProcess(url, 'migrate');
    expect(await failures(url)).toEqual([
      expect.objectContaining({
        check: 'database',
        detail: expect.stringMatching(/fsync and full_page_writes is off|full_page_writes/),
        fix: expect.stringMatching(/postgresql\.conf$/),
      }),
    ]);
  });
});

describeWith('redis', 'petstore doctor on Redis', (program) => {
  const keep = closedAtEnd();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = keep(await RedisServer.start(program));
  });

  const found = async (url: string) =>
    (await checks({ REDIS_URL: url })).filter(({ check }) => check === 'redis');
  const urlOf = (user: string) => redis.url.replace('redis://', `redis://${user}:secret@`);
  const createUser = (user: string, ...rules: string[]) =>
    redis.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', ...rules);
  /** The rights of docs/operating.md. */
  const GUIDE = readFileSync('docs/operating.md', 'utf8');
  const RIGHTS = /^\| Redis +\| `(~petstore[^`]+)`/m.exec(GUIDE)![1]!.split(' ');

  it('accepts a user with exactly the rights of the guide, and the service counts with it', async () => {
    await createUser('exact', ...RIGHTS);
    expect(await found(urlOf('exact'))).toEqual([
      expect.objectContaining({ status: 'ok', detail: expect.stringMatching(/^Redis /) }),
    ]);
    await using service = await startService({ env: { REDIS_URL: urlOf('exact') } });
    expect((await (await service.client()).get('/v1/pets')).status).toBe(200);
    await eventually(async () => {
      const { checks } = (await service.anonymous().get('/health/ready')).json();
      return checks.counters === 'redis';
    });
  });

  it('accepts the rights of the guide for the number of a database', async () => {
    await createUser('numbered', ...RIGHTS, '+select');
    expect(await found(`${urlOf('numbered')}/1`)).toEqual([
      expect.objectContaining({ status: 'ok' }),
    ]);
  });

  it('warns of a user that may not run INFO', async () => {
    // ioredis prints a line of its own.
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    await createUser('blind', ...RIGHTS, '-info');
    expect(await found(urlOf('blind'))).toEqual([
      expect.objectContaining({
        status: 'warning',
        detail: expect.stringMatching(/may evict counters: INFO, .* failed$/),
        fix: 'grant +info to the user in REDIS_URL',
      }),
    ]);
    warn.mockRestore();
  });

  it('fails for a user that may not run scripts', async () => {
    await createUser('mute', ...RIGHTS, '-@scripting');
    expect(await found(urlOf('mute'))).toEqual([
      expect.objectContaining({
        status: 'failed',
        detail: expect.stringContaining('NOPERM'),
        fix: expect.stringMatching(/operating\.md/),
      }),
    ]);
  });

  it('fails for a user that may run a script once only, by its text', async () => {
    await createUser('once', ...RIGHTS, '-evalsha');
    expect(await found(urlOf('once'))).toEqual([
      expect.objectContaining({ status: 'failed', detail: expect.stringContaining('evalsha') }),
    ]);
  });

  it('fails for a user that may run scripts, but not their commands', async () => {
    await createUser('half', '~petstore:*', '+@scripting');
    await createUser('none');
    for (const user of ['half', 'none']) {
      expect(await found(urlOf(user))).toEqual([
        expect.objectContaining({
          status: 'failed',
          fix: expect.stringMatching(/^grant the rights that docs\/operating\.md lists/),
        }),
      ]);
    }
  });

  it('fails for a database that Redis does not have, and no server counts in another one', async () => {
    const [finding] = await found(`${redis.url}/99`);
    expect(finding).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('DB index is out of range'),
      fix: expect.stringMatching(/number of a database of Redis/),
    });
    const line = `${finding!.detail}; ${finding!.fix}`;
    await expect(startService({ env: { REDIS_URL: `${redis.url}/99` } })).rejects.toThrow(line);
    await redis.call('FLUSHALL');
    expect(await redis.call('DBSIZE')).toBe(0);
  });

  it('warns of a Redis that may evict counters', async () => {
    await redis.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    expect(await found(redis.url)).toEqual([
      expect.objectContaining({
        status: 'warning',
        detail: expect.stringContaining('allkeys-lru'),
        fix: 'set maxmemory-policy noeviction',
      }),
    ]);
    await redis.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    expect(await found(redis.url)).toEqual([expect.objectContaining({ status: 'ok' })]);
  });

  it('accepts one address of a Redis Cluster with ?cluster=true, and reports the fix without it', async () => {
    await using cluster = await RedisServer.startCluster(program, 2);
    const [{ url } = redis] = cluster;
    expect(await found(`${url}?cluster=true`)).toEqual([expect.objectContaining({ status: 'ok' })]);
    const fixes = await Promise.all(cluster.map(async (each) => (await found(each.url))[0]!.fix));
    expect(fixes).toContain('add ?cluster=true to REDIS_URL: this is a Redis Cluster');
  });
});
