import { Clock } from '../../src/core/time/clock.js';
import { type Ban, mergeBans } from '../../src/core/rate-limits/bans/bans.js';
import { FallbackStore } from '../../src/core/rate-limits/stores/fallback.store.js';
import { MemoryStore } from '../../src/core/rate-limits/stores/memory.store.js';
import { RedisStore } from '../../src/core/rate-limits/stores/redis.store.js';
import { connectRedis, type RedisClient } from '../../src/core/redis/redis.client.js';
import type { Logger } from '../../src/core/telemetry/logger.js';
import { closedAtEnd } from '../support/closed-at-end.js';
import { describeWith } from '../support/engines.js';
import {
  describeStore,
  type StoreUnderTest,
  SUITE_CONFIG,
} from '../support/rate-limit-store.suite.js';
import { RedisServer } from '../support/redis.js';
import type { Watch } from '../support/undisturbed.js';

/** The counts are under test, not the speed of this machine. */
const PATIENCE_MS = 10_000;
const logger = { error: () => undefined, info: () => undefined } as unknown as Logger;

describeWith('redis', 'with counters in Redis', (program) => {
  const keep = closedAtEnd();
  let server: RedisServer;
  const clients: RedisClient[] = [];
  let closed = 0;
  /** A busy machine may lose a connection; a request that is sent again counts twice. */
  const watch: Watch = () => {
    const before = closed;
    return () => closed !== before;
  };
  beforeAll(async () => {
    server = keep(await RedisServer.start(program));
  });

  const connect = async (url = server.url): Promise<RedisStore> => {
    const client = await connectRedis(url, { timeoutMs: PATIENCE_MS });
    clients.push(client);
    client['connection'].on('close', () => closed++);
    return new RedisStore(client, SUITE_CONFIG);
  };
  const close = (): Promise<void> => {
    for (const client of clients.splice(0)) client.onApplicationShutdown();
    return Promise.resolve();
  };

  describeStore(RedisStore.name, async () => {
    return { ...asNode(await connect()), watch, close };
  });

  describeStore(`${RedisStore.name} on two nodes in turn`, async () => {
    const nodes = [asNode(await connect()), asNode(await connect())] as const;
    let turns = 0;
    const next = () => nodes[turns++ % 2 === 0 ? 0 : 1].store;
    return {
      store: {
        take: (key, limits) => next().take(key, limits),
        peek: (key) => next().peek(key),
        count: (key, windowMs) => next().count(key, windowMs),
      },
      restoreBan: (key, ban) => nodes.forEach((node) => node.restoreBan(key, ban)),
      watch,
      close,
    };
  });

  describeStore(FallbackStore.name, async () => {
    const memory = new MemoryStore(new Clock(), SUITE_CONFIG);
    const store = new FallbackStore(await connect(), memory, logger);
    return { store, restoreBan: (key, ban) => memory.restoreBan(key, ban), close };
  });

  it.each(['time', 'hmget', 'hset', 'expire'])(
    'fails the probe for a user that may not run %s',
    async (command) => {
      const rights = ['reset', 'on', '>secret', '~petstore:*', '+@all', `-${command}`];
      await server.call('ACL', 'SETUSER', 'limited', ...rights);
      const store = await connect(server.url.replace('//', '//limited:secret@'));
      const failure: unknown = await store.probe('none').catch((error: unknown) => error);
      await close();
      expect(String(failure)).toContain('grant the rights');
    },
  );
});

/** The store as a node uses it that knows only the bans of the database. */
function asNode(store: RedisStore): Pick<StoreUnderTest, 'store' | 'restoreBan'> {
  const bans = new Map<string, Ban>();
  return {
    store: {
      take: (key, limits) => store.take(key, limits, bans.get(key)),
      peek: (key) => store.peek(key, bans.get(key)),
      count: (key, windowMs) => store.count(key, windowMs),
    },
    restoreBan: (key, ban) => void bans.set(key, mergeBans(bans.get(key), ban)),
  };
}
