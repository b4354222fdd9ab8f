import { Client as PostgresClient } from 'pg';
import { Database } from '../../src/index.js';
import { jsonInProcess } from '../support/run-program.js';
import { describeOnPostgres } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { startService, type TestService } from '../support/start-service.js';

/** Longer than the look-back of the poller: a node that ignores its own pause misses the change. */
const LONG_MS = 11_000;
/** The timeout of the key cache for re-checking a cached key. */
const RECHECK_TIMEOUT_MS = 500;

const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

describeOnPostgres('a node with PostgreSQL', (server) => {
  it('takes effect if its transaction commits late', async () => {
    await using service = await startService();
    const client = await service.client();
    // Its first use is stored, which waits for other changes of the key.
    await client.get('/v1/pets');
    const revoke = `UPDATE api_keys SET revoked_at = 1, changed_at = changed_at + 1
      WHERE id = '${client.keyId}'`;
    const commit = await beginWith(service.config.databaseUrl, revoke);
    await polls(service, 4);
    expect((await client.get('/v1/pets')).status).toBe(200);
    await commit();
    await eventually(async () => (await client.get('/v1/pets')).status === 401);
  });

  it('applies the changes of a long network outage once the database is back', async () => {
    const url = await server.createDatabase();
    await using proxy = await FaultProxy.start(server.port);
    const throughProxy = url.replace(String(server.port), String(proxy.port));
    await using node = await startService({
      env: { DATABASE_URL: throughProxy, BAN_AFTER_REJECTIONS: '1' },
      migrate: true,
    });
    const petstore = (...argv: string[]) => jsonInProcess(url, 'keys', ...argv);
    const revoked = await node.client();
    const planned = await node.client();
    const banned = await node.client({ perMinute: 1, perDay: 1_000 });
    for (const client of [revoked, planned]) {
      expect((await client.get('/v1/pets')).status).toBe(200);
    }
    const isBanned = async () => (await banned.get('/v1/nope')).text.includes('key_banned');
    await eventually(isBanned);
    await eventually(async () => {
      return (await server.query('SELECT 1 FROM rate_limit_bans', url)).length === 1;
    });

    proxy.lose();
    const lostAt = performance.now();
    await petstore('revoke', revoked.keyId!, '--yes');
    for (const { keyId } of [planned, banned]) {
      await petstore('set-plan', keyId!, '--plan', 'business');
    }
    await petstore('unban', banned.keyId!);
    await pause(LONG_MS - (performance.now() - lostAt));
    proxy.pass();

    await eventually(async () => {
      const asked = performance.now();
      const { status } = await revoked.get('/v1/pets');
      const isTrusted = status === 200 && mayBeTrusted(asked);
      if (status !== 503 && !isTrusted) expect(status).toBe(401);
      return status === 401;
    });
    await eventually(async () => {
      const asked = performance.now();
      const limit = (await planned.get('/v1/nope')).headers['x-ratelimit-limit'];
      const isTrusted = limit === '1000000' && mayBeTrusted(asked);
      if (!isTrusted) expect(limit).toBe('1000');
      return limit === '1000';
    });
    await eventually(async () => !(await isBanned()));
  });
});

/**
 * A node that PostgreSQL does not answer in time trusts its cache, and a busy machine may be that
 * slow.
 */
function mayBeTrusted(askedMs: number): boolean {
  return performance.now() - askedMs >= RECHECK_TIMEOUT_MS;
}

/** Resolves after `count` more polls for changes. */
async function polls({ store }: TestService, count: number): Promise<void> {
  const poll = jest.spyOn(store.app.get(Database), 'poll');
  const done = () => poll.mock.calls.filter(([{ name }]) => name === 'poller.now').length;
  await eventually(() => Promise.resolve(done() >= count));
  poll.mockRestore();
}

/** Runs SQL in a transaction. The returned function commits it. */
async function beginWith(databaseUrl: string, sql: string): Promise<() => Promise<void>> {
  const client = new PostgresClient({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`BEGIN; ${sql}`);
  return async () => {
    await client.query('COMMIT');
    await client.end();
  };
}
