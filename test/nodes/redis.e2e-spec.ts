import { KeysService } from '../../src/keys/keys.service.js';
import { Limits } from '../../src/rate-limits/limits.js';
import { RedisStore } from '../../src/rate-limits/stores/redis.store.js';
import { connectRedis, type RedisClient } from '../../src/redis/redis.client.js';
import { type Answer, Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError, expectRateHeaders } from '../support/expectations.js';
import { Workplace } from '../support/petstore-process.js';
import { PostgresServer } from '../support/postgres.js';
import { RedisServer } from '../support/redis.js';
import { startService, type TestService } from '../support/start-service.js';

const policy = { afterRejections: 3, firstBanMs: 60_000 };
const DAY = new Limits(1_000_000, 50);

describeWith('redis', 'counters in Redis', (program) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start(program);
  });
  afterAll(() => server?.remove());

  describe(RedisStore.name, () => {
    const clients: RedisClient[] = [];
    const node = async (url = server.url): Promise<RedisStore> => {
      // What is counted is under test here, not how fast this machine is.
      const client = await connectRedis(url, 10_000);
      clients.push(client);
      return new RedisStore(client, policy);
    };
    afterAll(() => clients.forEach((client) => client.disconnect()));

    it.each([
      [1, 1],
      [1, 16],
      [1, 64],
      [2, 1],
      [2, 16],
      [2, 64],
      [4, 1],
      [4, 16],
      [4, 64],
    ])(
      'admits exactly the limit over %i nodes with %i requests at once, 50 times',
      async (nodes, width) => {
        const stores = await Promise.all(Array.from({ length: nodes }, () => node()));
        for (let round = 0; round < 50; round++) {
          const subject = `exact-${nodes}-${width}-${round}`;
          let admitted = 0;
          const worker = async (store: RedisStore): Promise<void> => {
            for (let request = 0; request < Math.ceil(100 / (nodes * width)) + 1; request++) {
              if ((await store.take(subject, new Limits(1_000, 50), undefined)).admitted)
                admitted++;
            }
          };
          await Promise.all(
            stores.flatMap((store) => Array.from({ length: width }, () => worker(store))),
          );
          expect(admitted).toBe(50);
        }
      },
    );

    it('takes from both windows or from neither', async () => {
      const store = await node();
      const limits = new Limits(1_000, 2);
      await store.take('both', limits, undefined);
      await store.take('both', limits, undefined);
      const refused = await store.take('both', limits, undefined);
      expect(refused).toMatchObject({
        admitted: false,
        minuteUsed: 2,
        dayUsed: 2,
        bannedUntilMs: 0,
      });
      expect(await store.peek('both')).toMatchObject({ minuteUsed: 2, dayUsed: 2 });
      expect(Math.abs(refused.nowMs - Date.now())).toBeLessThan(60_000);
    });

    it('bans, doubles the next ban, and ends it when told to', async () => {
      const store = await node();
      const limits = new Limits(1_000, 1);
      const provoke = async () => {
        let last = await store.take('ban', limits, undefined);
        for (let refusal = 0; refusal < 4; refusal++)
          last = await store.take('ban', limits, undefined);
        return last;
      };
      const first = await provoke();
      expect(first.bannedUntilMs - first.nowMs).toBe(60_000);
      expect(first.ban).toEqual({ at: first.nowMs, until: first.bannedUntilMs, bans: 1 });
      expect((await store.take('ban', limits, undefined)).bannedUntilMs).toBe(first.bannedUntilMs);
      expect((await store.peek('ban')).bannedUntilMs).toBe(first.bannedUntilMs);
      await store.unban('ban');
      await store.unban('nobody');
      expect((await store.take('ban', limits, undefined)).bannedUntilMs).toBe(0);
      const second = await provoke();
      expect(second.bannedUntilMs - second.ban!.at).toBe(120_000);
    });

    it('never bans an address', async () => {
      const store = await node();
      const limits = new Limits(1, 1);
      for (let request = 0; request < 10; request++) {
        expect((await store.take('ip:::1', limits, undefined)).bannedUntilMs).toBe(0);
      }
    });

    it('gives every key a time to live', async () => {
      const store = await node();
      await store.take('ttl', DAY, undefined);
      const keys = (await server.call('KEYS', '*')) as string[];
      for (const key of keys) expect(Number(await server.call('TTL', key))).toBeGreaterThan(0);
      expect(keys).toContain('petstore:{ttl}');
    });

    it('keeps an address for less time than a client, and as long as its use is worth', async () => {
      const store = await node();
      const limits = new Limits(1_000, 100);
      const secondsLeft = async (key: string) => Number(await server.call('TTL', key));
      await store.take('zoo-life', limits, undefined);
      await store.take('ip:192.0.2.1', limits, undefined);
      expect(await secondsLeft('petstore:{zoo-life}')).toBeGreaterThan(86_400);
      expect(await secondsLeft('petstore:{ip:192.0.2.1}')).toBeLessThanOrEqual(864);
      for (let request = 1; request < 50; request++) {
        await store.take('ip:192.0.2.1', limits, undefined);
      }
      const seconds = await secondsLeft('petstore:{ip:192.0.2.1}');
      expect(seconds).toBeLessThanOrEqual(43_200);
      expect(seconds).toBeGreaterThan(43_000);
      const bytes = async (key: string) => Number(await server.call('MEMORY', 'USAGE', key));
      expect(await bytes('petstore:{ip:192.0.2.1}')).toBeLessThan(
        await bytes('petstore:{zoo-life}'),
      );
    });

    it('learns from a node what an address has used, after a flush', async () => {
      const [one, other] = [await node(), await node()];
      const limits = new Limits(1_000, 2);
      const [minute, day] = [0, Math.floor(Date.now() / 86_400_000)];
      const known = { subject: 'ip:192.0.2.2', minute, minuteUsed: 0, day, dayUsed: 2 };
      const memory = { ...known, refusals: 0, ban: undefined, unsaved: false };
      expect((await one.take('ip:192.0.2.2', limits, memory)).admitted).toBe(false);
      expect((await other.take('ip:192.0.2.2', limits, undefined)).admitted).toBe(false);
    });

    it('loads its script again after a flush', async () => {
      const store = await node();
      await store.take('flush', DAY, undefined);
      await server.call('SCRIPT', 'FLUSH');
      expect((await store.take('flush', DAY, undefined)).dayUsed).toBe(2);
    });

    it('counts in a Redis Cluster', async () => {
      await using cluster = await RedisServer.startCluster(program, 2);
      const store = await node(cluster.map(({ url }) => url).join());
      const subjects = Array.from({ length: 20 }, (_none, index) => `subject-${index}`);
      for (const used of [1, 2]) {
        for (const subject of subjects) {
          expect((await store.take(subject, DAY, undefined)).dayUsed).toBe(used);
        }
      }
    });

    it('is connected to every shard of a Redis Cluster before it is asked', async () => {
      await using cluster = await RedisServer.startCluster(program, 2);
      const [{ url } = server] = cluster;
      await node(`${url},${url}`);
      for (const shard of cluster) {
        const clients = String(await shard.call('CLIENT', 'LIST'))
          .trim()
          .split('\n');
        // One is that of the question.
        expect(clients.length).toBeGreaterThan(1);
      }
    });
  });

  describeWith('postgres', 'two nodes', (initdb) => {
    let postgres: PostgresServer;
    let one: TestService;
    let two: TestService;
    beforeAll(async () => {
      postgres = await PostgresServer.start(initdb);
      const DATABASE_URL = await postgres.createDatabase();
      const env = { REDIS_URL: server.url, BAN_AFTER_REJECTIONS: '5', DATABASE_URL };
      one = await startService({ env, migrate: true });
      two = await startService({ env });
    });
    afterAll(async () => {
      server.resume();
      await two?.close();
      await one?.close();
      await postgres?.remove();
    });

    const both = (key: string) => [one, two].map(({ origin }) => new Client(origin, key));
    const limited = (perDay: number) =>
      one.client({ plan: 'enterprise', perMinute: 1_000_000, perDay });
    const remaining = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
    const mode = async (service: TestService) =>
      (await service.anonymous().get('/health/ready')).json();

    it('admit exactly the limit of simultaneous requests', async () => {
      const clients = both((await limited(50)).key!);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => clients[index % 2]!.get('/v1/pets')),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
      answers.forEach(expectRateHeaders);
      expect(await mode(one)).toEqual({
        status: 'ok',
        checks: { database: 'ok', counters: 'redis' },
      });
    });

    it('share failed authentication, bans, and their end', async () => {
      const { key, keyId } = await limited(1);
      const [here, there] = both(key!) as [Client, Client];
      await here.get('/v1/pets');
      for (let request = 0; request < 6; request++) await here.get('/v1/pets');
      expectError(await here.get('/v1/pets'), 429, 'key_banned');
      expectError(await there.get('/v1/pets'), 429, 'key_banned');
      await one.store.app.get(KeysService).unban(keyId!);
      await eventually(async () =>
        (await there.get('/v1/pets')).text.includes('rate_limit_exceeded'),
      );

      const before = remaining(await one.anonymous().get('/v1/pets'));
      expect(remaining(await two.anonymous().get('/v1/pets'))).toBe(before - 1);
    });

    /** Steady load on both nodes while something happens; every answer and how long it took. */
    async function during(key: string, happening: () => Promise<void>): Promise<Answer[]> {
      const clients = both(key);
      const answers: Answer[] = [];
      let over = false;
      const load = async (client: Client): Promise<void> => {
        while (!over) {
          const began = performance.now();
          const answer = await client.get('/v1/pets');
          answers.push(answer);
          // 150 ms are promised; the rest is the machine's.
          expect(performance.now() - began).toBeLessThan(1_000);
        }
      };
      const loads = clients.flatMap((client) => [load(client), load(client)]);
      await happening();
      over = true;
      await Promise.all(loads);
      return answers;
    }
    const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

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
      'go on by themselves while Redis is %s, refill nothing, and come back',
      async (_what, fault, mend) => {
        const { key } = await limited(1_000_000);
        const [here] = both(key!) as [Client, Client];
        for (let request = 0; request < 5; request++) await here.get('/v1/pets');
        const answers = await during(key!, async () => {
          await fault();
          await pause(400);
          await eventually(async () => (await mode(one)).checks.counters === 'fallback');
          expect((await mode(one)).status).toBe('degraded');
          await mend();
          await eventually(async () => (await mode(one)).checks.counters === 'redis');
          await eventually(async () => (await mode(two)).checks.counters === 'redis');
        });
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        answers.forEach(expectRateHeaders);
        const left = remaining(await here.get('/v1/pets'));
        expect(left).toBeLessThan(1_000_000 - 5);
      },
    );

    it('refill no quota by a flush', async () => {
      const { key } = await limited(10);
      const [here, there] = both(key!) as [Client, Client];
      for (let request = 0; request < 10; request++) await here.get('/v1/pets');
      await server.call('FLUSHALL');
      // What the node knows is sent along, so that Redis knows it again.
      expectError(await here.get('/v1/pets'), 429, 'rate_limit_exceeded');
      expectError(await there.get('/v1/pets'), 429, 'rate_limit_exceeded');
    });
  });

  describe('that cannot be', () => {
    const refused = async (url: string) => connectRedis(url).catch((error: Error) => error.message);

    it('as one node of a Redis Cluster, is refused at the start', async () => {
      await using cluster = await RedisServer.startCluster(program, 1);
      expect(await refused(cluster[0]!.url)).toMatch(/REDIS_URL names one node of a Redis Cluster/);
    });

    it('as a Sentinel keeps none, is refused at the start, with exit 1 and a clear line', async () => {
      await using sentinel = await RedisServer.startSentinel(program, server.port);
      expect(await refused(sentinel.url)).toMatch(/a Sentinel listens there/);
      expect(await refused(`${sentinel.url},${sentinel.url}`)).toMatch(/no cluster listens there/);
      using workplace = new Workplace({ REDIS_URL: sentinel.url });
      const { code, stdout, stderr } = await workplace.run('serve');
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/REDIS_URL must name the Redis that keeps the data/);
    });

    it('as the addresses are of no cluster, is refused at the start', async () => {
      expect(await refused(`${server.url},${server.url}`)).toMatch(/no cluster listens there/);
    });
  });

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
