import { once } from 'node:events';
import { Client as PostgresClient } from 'pg';
import { MIGRATION_LOCK } from '../../src/database/migrate.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { MuteServer } from '../support/mute-server.js';
import { type Finished, Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';

/** A start on a busy machine. */
const START_MS = 60_000;

const COMMANDS = [['serve', '--json'], ['migrate'], ['keys', 'list', '--json']];

const SOME = [['serve', '--json'], ['migrate']];

/** What PostgreSQL says to a wrong password. */
const WRONG_PASSWORD = errorResponse({
  S: 'FATAL',
  V: 'FATAL',
  C: '28P01',
  M: 'password authentication failed for user "shop"',
});

/** With Redis up: its connection must not keep alive what the database has ended. */
describeWith('redis', 'a start without its database', (program) => {
  const keep = closedAtEnd();
  let redis: RedisServer;
  beforeAll(async () => {
    redis = keep(await RedisServer.start(program));
  });

  async function expectToFail(
    url: string,
    reason: RegExp,
    commands: readonly string[][] = COMMANDS,
  ): Promise<void> {
    using workplace = new Workplace({
      ...{ DATABASE_URL: url, REDIS_URL: redis.url, PORT: '0', METRICS_PORT: '0' },
    });
    await Promise.all(
      commands.map(async (command) => {
        const { code, stdout, stderr } = await workplace.run(...command);
        expect({ command, code, stdout }).toEqual({ command, code: 1, stdout: '' });
        expect(complaintIn(stderr)).toMatch(reason);
      }),
    );
  }

  it('ends with one line where nothing listens', async () => {
    const url = `postgres://shop@127.0.0.1:${await freePort()}/shop`;
    await expectToFail(
      url,
      /^error: the database cannot be reached \(ECONNREFUSED\); check that it runs, and set DATABASE_URL$/,
    );
  });

  it('ends with one line where somebody listens, and never answers', async () => {
    await using server = await MuteServer.start();
    await expectToFail(
      `postgres://shop@127.0.0.1:${server.port}/shop`,
      /^error: the database cannot be reached \(Connection terminated due to connection timeout\); check that it runs, and set DATABASE_URL$/,
    );
  });

  it('ends with one line where the password is wrong', async () => {
    await using server = await MuteServer.start(WRONG_PASSWORD);
    await expectToFail(
      `postgres://shop:wrong@127.0.0.1:${server.port}/shop`,
      /^error: the database cannot be reached \(password authentication failed for user "shop"\); check that it runs, and set DATABASE_URL$/,
      SOME,
    );
  });

  it('ends on SIGTERM as well', async () => {
    await using server = await MuteServer.start();
    using workplace = new Workplace({
      DATABASE_URL: `postgres://shop@127.0.0.1:${server.port}/shop`,
      REDIS_URL: redis.url,
      METRICS_PORT: '0',
    });
    const child = workplace.start(['serve']);
    await server.visited();
    child.kill('SIGTERM');
    // 1 where it would have gone on to its end.
    expect(await once(child, 'close')).toEqual([0, null]);
  });

  describeWith('postgres', 'that PostgreSQL has', (initdb) => {
    const keep = closedAtEnd();
    let server: PostgresServer;
    beforeAll(async () => {
      server = keep(await PostgresServer.start(initdb));
    });

    it('ends with one line where there is no such database', async () => {
      await expectToFail(
        server.url.replace(/postgres$/, 'nowhere'),
        /^error: the database cannot be reached \(database "nowhere" does not exist\); check that it runs, and set DATABASE_URL$/,
        SOME,
      );
    });

    it('ends with one line where the schema is behind', async () => {
      await expectToFail(
        await server.createDatabase(),
        /^error: The database schema is behind .*petstore migrate/,
        COMMANDS.filter(([name]) => name !== 'migrate'),
      );
    });

    const isSomebodyWaiting = async (): Promise<boolean> =>
      (await server.query('SELECT 1 FROM pg_locks WHERE NOT granted')).length > 0;

    it('ends on SIGTERM while another node migrates', async () => {
      const url = await server.createDatabase();
      const other = new PostgresClient({ connectionString: url });
      await other.connect();
      try {
        await other.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
        using workplace = new Workplace({ DATABASE_URL: url, METRICS_PORT: '0' });
        const child = workplace.start(['serve', '--migrate']);
        await eventually(isSomebodyWaiting, START_MS);
        child.kill('SIGTERM');
        expect(await once(child, 'close')).toEqual([0, null]);
      } finally {
        await other.end();
      }
    });

    it('is no reason to stay: a server whose database stands still ends on SIGTERM', async () => {
      const url = await server.createDatabase();
      using workplace = new Workplace({ DATABASE_URL: url, SHUTDOWN_GRACE_SECONDS: '3' });
      expect(await workplace.run('migrate')).toMatchObject<Partial<Finished>>({ code: 0 });
      const served = await workplace.serve();
      server.stall();
      try {
        expect(await served.stop()).toBe(0);
      } finally {
        server.resume();
      }
    });
  });
});

/** The one line for the operator; the log may tell more around it. */
function complaintIn(stderr: string): string {
  const [complaint = '', ...others] = stderr
    .split('\n')
    .filter((line) => line.startsWith('error:'));
  expect(others).toEqual([]);
  return complaint;
}

/** https://www.postgresql.org/docs/current/protocol-message-formats.html */
function errorResponse(fields: Record<string, string>): Buffer {
  const body = Object.entries(fields).map(([type, text]) => `${type}${text}\0`);
  const bytes = Buffer.from(`${body.join('')}\0`);
  const head = Buffer.alloc(5);
  head.write('E');
  head.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}
