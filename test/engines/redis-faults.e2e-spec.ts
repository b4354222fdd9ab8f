import type { Config } from '../../src/config/config.js';
import { runProgram } from '../../src/cli/program.js';
import { Output } from '../../src/cli/output.js';
import { Limits } from '../../src/rate-limits/limits.js';
import { RedisStore } from '../../src/rate-limits/stores/redis.store.js';
import { connectRedis, RedisClient } from '../../src/redis/redis.client.js';
import { Client } from '../support/client.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import { eventually } from '../support/eventually.js';
import { expectError } from '../support/expectations.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { polls } from '../support/polls.js';
import { recordedLog } from '../support/recorded-log.js';
import { RedisServer } from '../support/redis.js';
import { startService, type TestService } from '../support/start-service.js';
import { withinOne } from '../support/undisturbed.js';

const plenty = new Limits(1_000_000, 1_000_000);
const policy = { banAfterRejections: 3, banSeconds: 60 } as Config;
/** Nobody waits so long, however busy the machine, unless for what never comes. */

/** Closed by what it is given to with `using`. */
async function connected(
  url: string,
): Promise<{ store: RedisStore; client: RedisClient } & Disposable> {
  const client = await connectRedis(url);
  const store = new RedisStore(client, policy);
  return { store, client, [Symbol.dispose]: () => client.disconnect() };
}

const answers = (store: RedisStore) =>
  store.take('zoo', plenty, undefined).then(
    () => true,
    () => false,
  );

function blockEventLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describeWith('redis', 'a Redis that fails', (program) => {
  const keep = closedAtEnd();
  let server: RedisServer;
  beforeAll(async () => {
    server = keep(await RedisServer.start(program, '--enable-debug-command', 'yes'));
  });

  describe(RedisClient.name, () => {
    it('does not take its own being busy for silence of Redis', async () => {
      // Not through a proxy: that would be in this process, and as busy.
      using redis = await connected(server.url);
      await eventually(() => answers(redis.store));
      const reply = redis.store.take('zoo', plenty, undefined);
      blockEventLoop(300);
      expect((await reply).admitted).toBe(true);
    });
  });

  describe('a service', () => {
    const keep = closedAtEnd();
    let proxy: FaultProxy;
    let service: TestService;
    beforeAll(async () => {
      proxy = keep(await FaultProxy.start(server.port));
      const REDIS_URL = `redis://127.0.0.1:${proxy.port}`;
      service = keep(await startService({ env: { REDIS_URL, BAN_AFTER_REJECTIONS: '3' } }));
    });
    beforeEach(async () => {
      proxy.pass();
      await counting('redis');
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

    it('says once that Redis is gone, and once that it is back', async () => {
      const { logger, lines } = recordedLog();
      await using talkative = await startService({
        env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
        logger,
      });
      const client = await talkative.client();
      const modes = () => lines.filter(({ message }) => /Redis is (un)?reachable/.test(message));
      // Whatever a busy machine has made it say before.
      await eventually(async () => {
        const { checks } = (await talkative.anonymous().get('/health/ready')).json();
        return checks.counters === 'redis';
      });
      const before = modes().length;
      proxy.refuse();
      for (let request = 0; request < 50; request++) await client.get('/v1/pets');
      expect(modes().slice(before)).toHaveLength(1);
      proxy.pass();
      await eventually(() => Promise.resolve(modes().length > before + 1));
      const said = modes().slice(before, before + 2);
      expect(said[0]!.message).toContain('unreachable');
      expect(said[1]!.message).toContain('reachable again');
    });

    it('refills no quota when a node is restarted while Redis is away', async () => {
      const exactly = withinOne('day', async () => {
        proxy.pass();
        const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
        await using before = await startService({ env });
        const isCounting = (mode: string) =>
          eventually(async () => {
            const { checks } = (await before.anonymous().get('/health/ready')).json();
            return checks.counters === mode;
          });
        await isCounting('redis');
        const client = await before.client({
          plan: 'enterprise',
          perMinute: 1_000_000,
          perDay: 2,
        });
        for (let request = 0; request < 2; request++) {
          expect((await client.get('/v1/pets')).status).toBe(200);
        }
        proxy.refuse();
        await isCounting('fallback');
        await before.store.close();
        const { databaseUrl } = before.config;
        await using after = await startService({ env: { ...env, DATABASE_URL: databaseUrl } });
        const again = new Client(after.origin, client.key);
        expectError(await again.get('/v1/pets'), 429, 'rate_limit_exceeded');
      });
      await exactly();
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
        try {
          expect(await runProgram(['keys', 'unban', client.keyId!], output)).toBe(0);
        } finally {
          process.env = { ...environment };
        }
      };
      await ban(client);
      await unban(server.url);
      await unbanned(client);

      await ban(client);
      await unban('redis://127.0.0.1:1');
      await unbanned(client);
      // Not even Redis, which was not told, brings it back.
      await polls(service, 2);
      const answer = await client.get('/v1/pets');
      expect(answer.text).toContain('rate_limit_exceeded');
    });
  });
});
