import { once } from 'node:events';
import { Client as PostgresClient } from 'pg';
import { MIGRATION_LOCK } from '../../src/database/migrate.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FakeServer } from '../support/fake-server.js';
import { Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';

const START_MS = 60_000;
const COMMANDS = [['serve', '--json'], ['migrate'], ['keys', 'list', '--json']];

// With Redis up: an open connection to it must not keep the process alive.
describeWith('redis', 'without its database, petstore', (program) => {
  const keep = closedAtEnd();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = keep(await RedisServer.start(program));
  });

  async function expectToFail(url: string, line: RegExp, commands = COMMANDS): Promise<void> {
    using workplace = new Workplace({
      ...{ DATABASE_URL: url, REDIS_URL: redis.url, PORT: '0', METRICS_PORT: '0' },
    });
    for (const command of commands) {
      const startedAt = performance.now();
      const { code, stdout, stderr } = await workplace.run(...command);
      expect(performance.now() - startedAt).toBeLessThan(10_000);
      expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
      const errors = stderr.split('\n').filter((each) => each.startsWith('error:'));
      expect(errors).toEqual([expect.stringMatching(line)]);
    }
  }

  it('exits with one line if the server never answers', async () => {
    await using server = await FakeServer.start();
    const line = new RegExp(`^error: PostgreSQL at 127.0.0.1:${server.port} .* timeout`);
    await expectToFail(`postgres://shop@127.0.0.1:${server.port}/shop`, line);
  });

  it('ends a start on SIGTERM', async () => {
    await using server = await FakeServer.start();
    using workplace = new Workplace({
      ...{ DATABASE_URL: `postgres://shop@127.0.0.1:${server.port}/shop` },
      ...{ REDIS_URL: redis.url, METRICS_PORT: '0' },
    });
    const child = workplace.start(['serve']);
    await server.visited();
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
  });
});

describeWith('postgres', 'on PostgreSQL, petstore', (initdb) => {
  const keep = closedAtEnd();
  let server: PostgresServer;
  beforeAll(async () => {
    server = keep(await PostgresServer.start(initdb));
  });

  it('serve ends on SIGTERM while another node migrates', async () => {
    const url = await server.createDatabase();
    const other = new PostgresClient({ connectionString: url });
    await other.connect();
    try {
      await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      using workplace = new Workplace({ DATABASE_URL: url, METRICS_PORT: '0' });
      const child = workplace.start(['serve', '--migrate']);
      const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted';
      await eventually(async () => (await server.query(waiting)).length > 0, START_MS);
      child.kill('SIGTERM');
      expect(await once(child, 'close')).toEqual([0, null]);
    } finally {
      await other.end();
    }
  });

  it('serve ends on SIGTERM while the database does not respond', async () => {
    const url = await server.createDatabase();
    using workplace = new Workplace({ DATABASE_URL: url, SHUTDOWN_GRACE_SECONDS: '3' });
    expect(await workplace.run('migrate')).toMatchObject({ code: 0 });
    const served = await workplace.serve();
    server.stall();
    try {
      expect(await served.stop()).toBe(0);
    } finally {
      server.resume();
    }
  });
});
