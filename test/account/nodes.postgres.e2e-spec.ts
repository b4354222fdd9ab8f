import { Client as PostgresClient } from 'pg';
import { saveUsage } from '../support/background.js';
import { Client } from '../support/client.js';
import { FakeClock } from '../support/clock.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeOnPostgres, describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { RedisServer } from '../support/redis.js';
import { startService, type TestService } from '../support/start-service.js';
import { withinOne } from '../support/undisturbed.js';

describeOnPostgres('two nodes with PostgreSQL', () => {
  describeWith('redis', 'and Redis', (program) => {
    const keep = closedAtEnd();
    let one: TestService;
    let two: TestService;
    beforeAll(async () => {
      const redis = keep(await RedisServer.start(program));
      one = keep(await startService({ env: { REDIS_URL: redis.url } }));
      const env = { REDIS_URL: redis.url, DATABASE_URL: one.config.databaseUrl };
      two = keep(await startService({ env }));
    });

    const holder = () => one.client({ scopes: ['pets:read', 'pets:write', 'key:rotate'] });
    const onTwo = ({ key }: { key?: string | undefined }) => new Client(two.origin, key);
    const rotate = (client: Client) => client.send('/v1/key/rotate', { method: 'POST' });

    it('repeat a rotation whose response was lost, until the new key is used on either', async () => {
      const old = await holder();
      const lost = (await rotate(old)).json();
      const kept = (await rotate(onTwo(old))).json();
      for (const { origin } of [one, two]) {
        expectError(await new Client(origin, lost.key).get('/v1/key'), 401, 'invalid_api_key');
      }
      expect((await new Client(one.origin, kept.key).get('/v1/key')).json().id).toBe(kept.id);
      expectError(await rotate(onTwo(old)), 409, 'key_already_rotated');
      // No request is lost: both keys work until the grace period ends.
      for (const client of [old, onTwo(old), onTwo(kept)]) {
        expect((await client.get('/v1/pets')).status).toBe(200);
      }
    });

    it('reject a key that its holder has revoked on the other', async () => {
      const client = await holder();
      expect((await onTwo(client).get('/v1/pets')).status).toBe(200);
      expect((await client.send('/v1/key', { method: 'DELETE' })).status).toBe(204);
      await eventually(async () => (await onTwo(client).get('/v1/pets')).status === 401);
    });

    it.each([
      ['revoked', 'DELETE', '/v1/key'],
      ['rotated', 'POST', '/v1/key/rotate'],
    ])('serve others while a key is %s 30 times at once, and a lock delays it', async (...args) => {
      const [, method, path] = args;
      const env = { DATABASE_URL: one.config.databaseUrl, DATABASE_POOL_SIZE: '2' };
      await using node = await startService({ env });
      const client = await node.client({ scopes: ['pets:read', 'key:rotate'] });
      const other = await node.client();
      for (const each of [client, other]) await each.get('/v1/pets');
      const holding = new PostgresClient(node.config.databaseUrl);
      await holding.connect();
      await holding.query('BEGIN');
      await holding.query('SELECT 1 FROM api_keys WHERE id = $1 FOR UPDATE', [client.keyId]);
      const sent = Array.from({ length: 30 }, () => client.send(path, { method }));
      const waiting = `SELECT 1 FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`;
      await eventually(async () => (await holding.query(waiting)).rows.length > 0);
      for (let count = 0; count < 5; count++) {
        const pet = await other.post('/v1/pets', { name: 'Rex', categoryId: 1 });
        expect(pet.status).toBe(201);
      }
      await holding.query('ROLLBACK');
      await holding.end();
      const statuses = await Promise.all(sent.map(async (each) => (await each).status));
      // A request that arrives after a revocation has no valid key.
      const done = method === 'POST' ? [201] : [204, 401];
      expect(statuses.filter((status) => !done.includes(status))).toEqual([]);
    });

    it(
      'count the 60 requests a minute for the holder of a key together',
      withinOne('minute', async () => {
        const client = await holder();
        const nodes = [client, onTwo(client)];
        for (let count = 0; count < 60; count++) {
          expect((await nodes[count % 2]!.get('/v1/key')).status).toBe(200);
        }
        for (const node of nodes)
          expectError(await node.get('/v1/key'), 429, 'rate_limit_exceeded');
      }),
    );

    it('count the rejected requests of a group together, in whichever order they save them', async () => {
      const clocks = [0, 60_000].map(
        (ms) => new FakeClock(Date.parse('2026-06-15T12:00:00Z') + ms),
      );
      const [first, second] = await Promise.all(
        clocks.map(async (clock) => {
          const { config } = one;
          const env = { REDIS_URL: config.redisUrl!, DATABASE_URL: config.databaseUrl };
          return keep(await startService({ env, clock }));
        }),
      );
      const client = await holder();
      for (const { origin } of [first!, second!, second!]) {
        expectError(await new Client(origin, client.key).get('/v1/pets/0'), 404, 'pet_not_found');
      }
      for (const node of [second!, first!]) await saveUsage(node);
      const caller = new Client(second!.origin, client.key);
      const { rejected } = (await caller.get('/v1/usage/history')).json();
      const times = { firstAt: '2026-06-15T12:00:00.000Z', at: '2026-06-15T12:01:00.000Z' };
      expect(rejected).toMatchObject([{ code: 'pet_not_found', count: 3, ...times }]);
    });

    it('take a create with the successor of a key for the repeat that it is', async () => {
      const client = await holder();
      const create = (by: Client) =>
        by.post('/v1/pets', { name: 'Rex', categoryId: 1 }, { 'idempotency-key': 'order-1' });
      const first = (await create(client)).json();
      const repeat = await create(onTwo((await rotate(client)).json()));
      expect(repeat.headers['idempotent-replayed']).toBe('true');
      expect(repeat.json()).toEqual(first);
    });
  });
});
