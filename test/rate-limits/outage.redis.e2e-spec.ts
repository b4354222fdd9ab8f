import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../../src/core/config/config.js';
import { RedisStore } from '../../src/core/rate-limits/stores/redis.store.js';
import { connectRedis } from '../../src/core/redis/redis.client.js';
import { type Answer, Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeOnPostgres, describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { startLoad } from '../support/load.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { jsonInProcess } from '../support/run-program.js';
import { RedisServer } from '../support/redis.js';
import { startService, type TestService } from '../support/start-service.js';
import { fallbacks } from '../support/fallbacks.js';
import { type Watch, withinOne } from '../support/undisturbed.js';

const policy = { banAfterRejections: 3, banSeconds: 60 } as Config;
const DAY = { perMinute: 1_000_000, perDay: 50 };
const ROUNDS = 20;
/** Suspends every node of this process. */
const blockEventLoop = (ms: number): unknown =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
let keys = 0;
const freshKey = (name: string) => `${name}-${keys++}`;

describeWith('redis', 'counters in Redis', (program) => {
  const keep = closedAtEnd();
  let server: RedisServer;
  beforeAll(async () => {
    server = keep(await RedisServer.start(program));
  });

  describe(RedisStore.name, () => {
    const keep = closedAtEnd();
    let closed = 0;
    /** A busy machine may lose a connection; a request that is sent again counts twice. */
    const reconnects: Watch = () => {
      const before = closed;
      return () => closed !== before;
    };
    const node = async (url = server.url): Promise<RedisStore> => {
      // The counts are under test, not the speed of this machine.
      const client = await connectRedis(url, { timeoutMs: 10_000 });
      keep({ [Symbol.dispose]: () => client.onApplicationShutdown() });
      client['connection'].on('close', () => closed++);
      return new RedisStore(client, policy);
    };

    it.each([
      [1, 16],
      [2, 1],
      [2, 64],
      [4, 16],
    ])(
      `admits exactly the limit over %i nodes with %i requests at once, ${ROUNDS} times`,
      async (nodes, width) => {
        const stores = await Promise.all(Array.from({ length: nodes }, () => node()));
        const round = async (): Promise<void> => {
          const of = freshKey('exact');
          let admitted = 0;
          const worker = async (store: RedisStore): Promise<void> => {
            for (let request = 0; request < Math.ceil(100 / (nodes * width)) + 1; request++) {
              const limits = { perMinute: 1_000, perDay: 50 };
              if ((await store.take(of, limits, undefined)).admitted) admitted++;
            }
          };
          await Promise.all(
            stores.flatMap((store) => Array.from({ length: width }, () => worker(store))),
          );
          expect(admitted).toBe(50);
        };
        const exact = withinOne('day', round, reconnects);
        await Promise.all(Array.from({ length: ROUNDS }, exact));
      },
    );

    it('counts in a Redis Cluster, connected to every shard before it is asked', async () => {
      await using cluster = await RedisServer.startCluster(program, 2);
      const [{ url } = server] = cluster;
      const store = await node(`${url},${url}`);
      for (const shard of cluster) {
        const clients = String(await shard.call('CLIENT', 'LIST'))
          .trim()
          .split('\n');
        // One is the connection of this question.
        expect(clients.length).toBeGreaterThan(1);
      }
      const counted = withinOne('day', async () => {
        const many = Array.from({ length: 20 }, () => freshKey('shared'));
        for (const used of [1, 2]) {
          for (const each of many) {
            expect((await store.take(each, DAY, undefined)).dayUsed).toBe(used);
          }
        }
      });
      await counted();
    });
  });

  describeOnPostgres('two nodes', () => {
    const keep = closedAtEnd();
    let one: TestService;
    let two: TestService;
    beforeAll(async () => {
      const env = { REDIS_URL: server.url, BAN_AFTER_REJECTIONS: '5' };
      one = keep(await startService({ env }));
      const DATABASE_URL = one.config.databaseUrl;
      two = keep(await startService({ env: { ...env, DATABASE_URL } }));
      keep({ [Symbol.dispose]: () => server.resume() });
    });

    const both = (key: string) => [one, two].map(({ origin }) => new Client(origin, key));
    const limited = (perDay: number) =>
      one.client({ plan: 'enterprise', perMinute: 1_000_000, perDay });
    const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
    const mode = async (service: TestService) =>
      (await service.anonymous().get('/health/ready')).json();

    const turns: Watch = () => fallbacks(one, two)();
    const inRedis = () =>
      eventually(async () => {
        const modes = await Promise.all([one, two].map(mode));
        return modes.every(({ checks }) => checks.counters === 'redis');
      });

    it(
      'share failed authentication, bans, and their end',
      withinOne(
        'minute',
        async () => {
          await inRedis();
          const { key, keyId } = await limited(1);
          const [here, there] = both(key!) as [Client, Client];
          await here.get('/v1/pets');
          for (let request = 0; request < 6; request++) await here.get('/v1/pets');
          expectError(await here.get('/v1/pets'), 429, 'key_banned');
          expectError(await there.get('/v1/pets'), 429, 'key_banned');
          await server.call('FLUSHALL');
          expectError(await here.get('/v1/pets'), 429, 'key_banned');
          process.env['REDIS_URL'] = server.url;
          await jsonInProcess(one.config.databaseUrl, 'keys', 'unban', keyId!);
          delete process.env['REDIS_URL'];
          await eventually(async () =>
            (await there.get('/v1/pets')).text.includes('rate_limit_exceeded'),
          );

          const before = remaining(await one.anonymous().get('/v1/pets'));
          expect(remaining(await two.anonymous().get('/v1/pets'))).toBe(before - 1);
        },
        turns,
      ),
    );

    it.each(
      [90, 130, 200, 400].flatMap((ms) => [
        { who: 'Redis', ms },
        { who: 'Redis and every node', ms },
      ]),
    )('admit exactly the limit while $who pauses for $ms ms', async ({ who, ms }) => {
      const limit = 400;
      const test = withinOne('day', async () => {
        await inRedis();
        const { key } = await limited(limit);
        const load = startLoad([...both(key!), ...both(key!), ...both(key!)], (client) =>
          client.get('/v1/pets'),
        );
        const admitted = () => load.results.filter(({ status }) => status === 200).length;
        await eventually(() => Promise.resolve(admitted() > limit / 4));
        server.stall();
        if (who === 'Redis') await pause(ms);
        else blockEventLoop(ms);
        server.resume();
        await eventually(() => Promise.resolve(load.results.length > limit + 100));
        await load.stop();
        expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([200, 429]));
        expect(admitted()).toBe(limit);
      });
      await test();
    });

    it('ban no client for commands that Redis executes when nobody waits for them', async () => {
      const test = withinOne('day', async () => {
        await inRedis();
        const { key } = await limited(100);
        const clients = both(key!);
        for (const client of clients) expect((await client.get('/v1/pets')).status).toBe(200);
        server.stall();
        const calls = Array.from({ length: 60 }, () =>
          clients.map((client) => client.get('/v1/pets')),
        );
        const answers = await Promise.all(calls.flat());
        // A node knows the clock of Redis as well as it knows the time of a reply.
        await pause(600);
        server.resume();
        await inRedis();
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        const next = await clients[0]!.get('/v1/pets');
        expect([next.status, remaining(next)]).toEqual([200, 97]);
      });
      await test();
    });

    it(
      'admit no more than the limit after they were suspended',
      withinOne(
        'day',
        async () => {
          await inRedis();
          const limit = 400;
          const { key } = await limited(limit);
          const load = startLoad([...both(key!), ...both(key!), ...both(key!)], (client) =>
            client.get('/v1/pets'),
          );
          const admitted = () => load.results.filter(({ status }) => status === 200).length;
          for (const share of [0.25, 0.5, 0.75]) {
            await eventually(() => Promise.resolve(admitted() > share * limit));
            blockEventLoop(1_500);
          }
          await eventually(() => Promise.resolve(load.results.length > limit + 100));
          await load.stop();
          expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([200, 429]));
          expect(admitted()).toBeLessThanOrEqual(limit);
        },
        turns,
      ),
    );

    it('take a lost connection that can be opened again for no outage', async () => {
      const limit = 400;
      const test = withinOne('day', async () => {
        await inRedis();
        const hasFallenBack = fallbacks(one, two)();
        const { key } = await limited(limit);
        const load = startLoad([...both(key!), ...both(key!), ...both(key!)], (client) =>
          client.get('/v1/pets'),
        );
        const admitted = () => load.results.filter(({ status }) => status === 200).length;
        const kills = [1, 2, 3].map((quarter) => (quarter * limit) / 4);
        for (const count of kills) {
          await eventually(() => Promise.resolve(admitted() > count));
          await server.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        }
        await eventually(() => Promise.resolve(load.results.length > limit + 100));
        await load.stop();
        expect(hasFallenBack()).toBe(false);
        expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([200, 429]));
        expect(admitted()).toBeLessThanOrEqual(limit);
        // A request is counted twice if only its reply was lost.
        const inFlight = both(key!).length * 3;
        expect(admitted()).toBeGreaterThanOrEqual(limit - kills.length * inFlight);
      });
      await test();
    });

    it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
      ['gone', () => server.kill(), () => server.run()],
      ['stalled', () => Promise.resolve(server.stall()), () => Promise.resolve(server.resume())],
      [
        'full',
        () => server.call('CONFIG', 'SET', 'maxmemory', '1'),
        () => server.call('CONFIG', 'SET', 'maxmemory', '0'),
      ],
      [
        'read-only',
        () => server.call('REPLICAOF', '127.0.0.1', '1'),
        () => server.call('REPLICAOF', 'NO', 'ONE'),
      ],
    ])(
      'count on their own while Redis is %s, fail no request, and count together afterwards',
      async (_what, fault, mend) => {
        const { key } = await limited(1_000_000);
        const load = startLoad([...both(key!), ...both(key!)], async (client) => {
          const answer = await client.get('/v1/pets');
          expectRateHeaders(answer);
          return answer.status;
        });
        await eventually(() => Promise.resolve(load.results.length > 20));
        await fault();
        try {
          for (const node of [one, two]) {
            await eventually(async () => (await mode(node)).checks.counters === 'fallback');
            expect((await mode(node)).status).toBe('degraded');
          }
          const before = load.results.length;
          await eventually(() => Promise.resolve(load.results.length > before + 20));
        } finally {
          await mend();
          await inRedis().finally(load.stop);
        }
        expect(new Set(load.results)).toEqual(new Set([200]));
        const [here, there] = both(key!) as [Client, Client];
        const before = remaining(await here.get('/v1/pets'));
        expect(remaining(await there.get('/v1/pets'))).toBe(before - 1);
      },
    );
  });

  it(
    'is not needed to keep a quota over a restart',
    withinOne('day', async () => {
      await using proxy = await FaultProxy.start(server.port);
      const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
      await using before = await startService({ env });
      const isCounting = async (mode: string) =>
        (await before.anonymous().get('/health/ready')).json().checks.counters === mode;
      await eventually(() => isCounting('redis'));
      const client = await before.client({ perMinute: 1_000_000, perDay: 1 });
      expect((await client.get('/v1/pets')).status).toBe(200);
      proxy.refuse();
      await eventually(() => isCounting('fallback'));
      await before.store.close();
      const { databaseUrl } = before.config;
      await using after = await startService({ env: { ...env, DATABASE_URL: databaseUrl } });
      const again = new Client(after.origin, client.key);
      expectError(await again.get('/v1/pets'), 429, 'rate_limit_exceeded');
    }),
  );

  it('is not waited for at the start', async () => {
    await using service = await startService({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });
    const client = await service.client();
    expect((await client.get('/v1/pets')).status).toBe(200);
    expect((await service.anonymous().get('/health/ready')).json()).toEqual({
      status: 'degraded',
      checks: { database: 'ok', counters: 'fallback' },
    });
  });
});
