import { runProgram } from '../../src/cli/program.js';
import { Output } from '../../src/cli/output.js';
import { KeysService } from '../../src/keys/keys.service.js';
import { Limits } from '../../src/rate-limits/limits.js';
import { RedisStore } from '../../src/rate-limits/stores/redis.store.js';
import { connectRedis, RedisClient } from '../../src/redis/redis.client.js';
import { type Client } from '../support/client.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { RedisServer } from '../support/redis.js';
import { startService, type TestService } from '../support/start-service.js';

const plenty = new Limits(1_000_000, 1_000_000);
const policy = { afterRejections: 3, firstBanMs: 60_000 };
const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms));

function blockEventLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describeWith('redis', 'a Redis that fails', (program) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start(program, '--enable-debug-command', 'yes');
  });
  afterAll(() => server?.remove());

  describe(RedisClient.name, () => {
    let proxy: FaultProxy;
    let client: RedisClient;
    let store: RedisStore;
    beforeEach(async () => {
      proxy = await FaultProxy.start(server.port);
      client = await connectRedis(`redis://127.0.0.1:${proxy.port}`);
      store = new RedisStore(client, policy);
      await store.take('zoo', plenty, undefined);
    });
    afterEach(async () => {
      client.disconnect();
      await proxy.close();
    });

    const answers = () =>
      store.take('zoo', plenty, undefined).then(
        () => true,
        () => false,
      );

    it('does not take its own being busy for silence of Redis', async () => {
      // Not through the proxy: it is in this process, and would be as busy.
      const direct = await connectRedis(server.url);
      const reply = new RedisStore(direct, policy).take('zoo', plenty, undefined);
      blockEventLoop(300);
      expect((await reply).admitted).toBe(true);
      direct.disconnect();
    });

    it('gives a silent Redis up', async () => {
      proxy.stall();
      await expect(store.take('zoo', plenty, undefined)).rejects.toThrow('did not answer');
    });

    it.each<[string, () => void]>([
      ['stalled', () => proxy.stall()],
      ['lost without a word', () => proxy.lose()],
      ['cut', () => proxy.cut()],
      ['refused', () => proxy.refuse()],
    ])('finds Redis again after its connection was %s', async (_what, fault) => {
      fault();
      for (let attempt = 0; attempt < 8; attempt++) {
        await answers();
        await pause(100);
      }
      proxy.pass();
      await eventually(answers);
    });

    it('finds Redis soon after it has loaded its data', async () => {
      const slow = await RedisServer.start(program);
      const impatient = await connectRedis(slow.url);
      await slow.call(
        'EVAL',
        "for i = 1, 3000 do redis.call('SET', 'filler' .. i, i) end return 1",
        '0',
      );
      await slow.call('SAVE');
      await slow.kill();
      // A second or more of loading.
      await slow.run('--key-load-delay', '500', '--loading-process-events-interval-bytes', '1024');
      const began = performance.now();
      await eventually(() =>
        new RedisStore(impatient, policy).take('zoo', plenty, undefined).then(
          () => true,
          () => false,
        ),
      );
      expect(performance.now() - began).toBeLessThan(2_000);
      impatient.disconnect();
      await slow.remove();
    });
  });

  describe('a cluster', () => {
    let cluster: RedisServer;
    let client: RedisClient | undefined;
    beforeAll(async () => {
      // It tells of itself by another address than it is asked by.
      const options = ['--cluster-announce-ip', '127.0.0.2', '--bind', '127.0.0.1', '127.0.0.2'];
      // So long a cluster that was broken stays away.
      options.push('--cluster-node-timeout', '500');
      cluster = (await RedisServer.startCluster(program, 1, ...options))[0]!;
    });
    afterEach(() => client?.disconnect());
    afterAll(() => cluster?.remove());

    it('fails soon where some of it is missing, and is found again', async () => {
      client = await connectRedis(`${cluster.url},${cluster.url}`);
      const store = new RedisStore(client, policy);
      await store.take('zoo', plenty, undefined);
      await cluster.call('CLUSTER', 'DELSLOTSRANGE', '0', '16383');
      const began = performance.now();
      await expect(store.take('zoo', plenty, undefined)).rejects.toThrow();
      // 100 ms are promised; the rest is the machine's.
      expect(performance.now() - began).toBeLessThan(1_000);
      await cluster.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
      await eventually(() =>
        store.take('zoo', plenty, undefined).then(
          () => true,
          () => false,
        ),
      );
    });

    it('is told its password by every node that is found', async () => {
      await cluster.call('CONFIG', 'SET', 'requirepass', 'secret');
      const url = `redis://:secret@127.0.0.1:${cluster.port}`;
      client = await connectRedis(`${url},${url}`);
      const store = new RedisStore(client, policy);
      await eventually(() =>
        store.take('zoo', plenty, undefined).then(
          () => true,
          () => false,
        ),
      );
    });
  });

  describe('a service', () => {
    let proxy: FaultProxy;
    let service: TestService;
    beforeAll(async () => {
      proxy = await FaultProxy.start(server.port);
      const REDIS_URL = `redis://127.0.0.1:${proxy.port}`;
      service = await startService({ env: { REDIS_URL, BAN_AFTER_REJECTIONS: '3' } });
    });
    afterEach(async () => {
      proxy.pass();
      await counting('redis');
    });
    afterAll(async () => {
      await service?.close();
      await proxy?.close();
    });

    const counting = (mode: string) =>
      eventually(
        async () =>
          (await service.anonymous().get('/health/ready')).json().checks.counters === mode,
      );
    const limited = (perDay: number) =>
      service.client({ plan: 'enterprise', perMinute: 1_000_000, perDay });

    async function ban(client: Client): Promise<number> {
      for (let request = 0; request < 10; request++) {
        const answer = await client.get('/v1/pets');
        if (answer.text.includes('key_banned')) return Number(answer.headers['retry-after']);
      }
      throw new Error('There was no ban');
    }
    const unbanned = (client: Client) =>
      eventually(async () => !(await client.get('/v1/pets')).text.includes('key_banned'));

    it('notices without a request that Redis is gone, and that it is back', async () => {
      proxy.refuse();
      await counting('fallback');
      proxy.pass();
      await counting('redis');
    });

    it('says once that Redis is gone, and once that it is back', async () => {
      const said: string[] = [];
      const note = (_fields: object, message: string) => void said.push(message);
      const logger = {
        debug: note,
        info: note,
        warn: note,
        error: note,
        request: () => undefined,
        flush: () => undefined,
      };
      const talkative = await startService({
        env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
        logger: logger as never,
      });
      const client = await talkative.client();
      proxy.refuse();
      for (let request = 0; request < 50; request++) await client.get('/v1/pets');
      proxy.pass();
      await eventually(() => Promise.resolve(said.some((each) => each.includes('answers again'))));
      expect(said.filter((each) => each.includes('does not answer'))).toHaveLength(1);
      expect(said.filter((each) => each.includes('answers again'))).toHaveLength(1);
      await talkative.close();
    });

    it('admits not one request more after a flush', async () => {
      const client = await limited(10);
      for (let request = 0; request < 10; request++) await client.get('/v1/pets');
      await server.call('FLUSHALL');
      expectError(await client.get('/v1/pets'), 429, 'rate_limit_exceeded');
    });

    it('admits exactly the limit while Redis goes and comes', async () => {
      const client = await limited(30);
      let admitted = 0;
      const ask = async (times: number): Promise<void> => {
        for (let request = 0; request < times; request++) {
          if ((await client.get('/v1/pets')).status === 200) admitted++;
        }
      };
      await ask(10);
      proxy.cut();
      await ask(5);
      proxy.refuse();
      await ask(5);
      proxy.pass();
      await counting('redis');
      await ask(13);
      expect(admitted).toBe(30);
    });

    it('doubles the next ban after a flush and after an outage', async () => {
      const client = await limited(1);
      const lengths = [await ban(client)];
      for (const fault of [
        () => server.call('FLUSHALL'),
        () => Promise.resolve(proxy.refuse()),
        () => Promise.resolve(proxy.pass()),
      ]) {
        await service.store.app.get(KeysService).unban(client.keyId!);
        await unbanned(client);
        await fault();
        await pause(700);
        lengths.push(await ban(client));
      }
      expect(lengths).toEqual([300, 600, 1_200, 2_400]);
    });

    it('lets a ban end that was lifted by the command line, with Redis and without', async () => {
      const client = await limited(1);
      const environment = { ...process.env };
      const unban = async (redisUrl: string): Promise<void> => {
        process.env['DATABASE_URL'] = service.config.databaseUrl;
        process.env['REDIS_URL'] = redisUrl;
        const output = new Output(
          () => undefined,
          () => undefined,
        );
        expect(await runProgram(['keys', 'unban', client.keyId!], output)).toBe(0);
        process.env = { ...environment };
      };
      await ban(client);
      await unban(server.url);
      await unbanned(client);

      await ban(client);
      await unban('redis://127.0.0.1:1');
      await unbanned(client);
      // Not even Redis, which was not told, brings it back.
      await pause(700);
      const answer = await client.get('/v1/pets');
      expect(answer.text).toContain('rate_limit_exceeded');
    });
  });
});
