import { Workplace } from '../support/petstore-process.js';
import { describeWith } from '../support/engines.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';

jest.setTimeout(180_000);

const NO_PORTS = { PORT: '0', METRICS_PORT: '0' };

interface Report {
  status: string;
  checks: { check: string; status: string; detail: string; fix: string | null }[];
}

async function doctor(workplace: Workplace): Promise<Report> {
  const { stdout, stderr } = await workplace.run('doctor', '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
}

describeWith('postgres', 'petstore doctor, with PostgreSQL', (initdb) => {
  it('tells its version, a schema that is behind, and how far off its clock is', async () => {
    await using server = await PostgresServer.start(initdb);
    const url = await server.createDatabase();
    using workplace = new Workplace({ ...NO_PORTS, DATABASE_URL: url });
    const before = await doctor(workplace);
    expect(before.checks).toContainEqual(
      expect.objectContaining({ check: 'schema', status: 'failed', fix: 'run petstore migrate' }),
    );
    await workplace.run('migrate');
    const { status, checks } = await doctor(workplace);
    // Of a busy machine the clock, too, is told with a warning.
    expect(status).not.toBe('failed');
    const said = Object.fromEntries(checks.map(({ check, detail }) => [check, detail]));
    expect(said['database']).toMatch(/^PostgreSQL \d+/);
    expect(said['schema']).toMatch(/^up to date/);
    expect(said['clock']).toMatch(/^the clock of the database is \d+ ms /);
  });
});

describeWith('redis', 'petstore doctor, with Redis', (program) => {
  it('warns of a Redis that may throw counters away, and of no other', async () => {
    await using redis = await RedisServer.start(program);
    using workplace = new Workplace({ ...NO_PORTS, REDIS_URL: redis.url });
    await workplace.run('migrate');
    const of = async () =>
      (await doctor(workplace)).checks.filter(({ check }) => check === 'redis');
    // A machine that is busy enough makes any Redis slow; that is warned of as well.
    const [first, ...others] = await of();
    expect([first!.detail, others]).toEqual([
      expect.stringMatching(/^Redis \d\S* at \S+, [\d.]+ ms$/),
      [],
    ]);
    expect(String(first!.fix)).not.toContain('noeviction');
    await redis.call('CONFIG', 'SET', 'maxmemory', '100mb', 'maxmemory-policy', 'allkeys-lru');
    const [found] = await of();
    expect(found).toMatchObject({ status: 'failed', fix: expect.stringContaining('noeviction') });
    expect(found!.detail).toContain('allkeys-lru');
  });
});
