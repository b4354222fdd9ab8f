import { once } from 'node:events';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { FakeServer } from '../support/fake-server.js';
import { Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';

const COMMANDS = [['serve', '--json'], ['migrate'], ['keys', 'list', '--json']];

// With Redis up: an open connection to it must not keep the process alive.
describeWith('redis', 'without its database, petstore', (program) => {
  const keep = closedAtEnd();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = keep(await RedisServer.start(program));
  });

  it.each(COMMANDS)('%s exits with one line if the database never responds', async (...command) => {
    await using server = await FakeServer.start();
    using workplace = new Workplace({
      ...{ DATABASE_URL: `postgres://shop@127.0.0.1:${server.port}/shop` },
      ...{ REDIS_URL: redis.url, PORT: '0', METRICS_PORT: '0' },
    });
    const { code, stdout, stderr } = await workplace.run(...command);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const line = `^error: PostgreSQL at 127.0.0.1:${server.port} .* timeout.*\n$`;
    expect(stderr).toMatch(new RegExp(line));
  });

  it('SIGTERM ends a start', async () => {
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
  it('serve ends on SIGTERM while the database does not respond', async () => {
    await using server = await PostgresServer.start(initdb);
    using workplace = new Workplace({ DATABASE_URL: server.url, SHUTDOWN_GRACE_SECONDS: '3' });
    expect(await workplace.run('migrate')).toMatchObject({ code: 0 });
    const served = await workplace.serve();
    server.stall();
    expect(await served.stop()).toBe(0);
  });
});
