import { inspect } from 'node:util';
import tls, { type ConnectionOptions } from 'node:tls';
import { ScriptedRedis } from '../../test/support/scripted-redis.js';
import { connectRedis, RedisClient } from './redis.client.js';

const SCRIPT = { name: 'petstoreTest', lua: 'return 1' };

describe(RedisClient.name, () => {
  afterEach(() => jest.restoreAllMocks());

  it('asks for the certificate of a host of a cluster, not for that of its address', async () => {
    const connect = jest.spyOn(tls, 'connect');
    // Nobody listens there.
    const client = await connectRedis('rediss://localhost:1,rediss://localhost:2');
    client.disconnect();
    const hosts = connect.mock.calls.map(([options]) => (options as ConnectionOptions).host);
    expect(new Set(hosts)).toEqual(new Set(['localhost']));
  });

  it('says why there is no connection, as that its password is wrong, and never the password', async () => {
    const refusal = 'WRONGPASS invalid username-password pair or user is disabled.';
    await using redis = await ScriptedRedis.start((name) =>
      name === 'AUTH' ? `-${refusal}` : '-NOAUTH Authentication required.',
    );
    const url = `redis://:a-secret@127.0.0.1:${redis.port}`;
    for (const each of [url, `${url},${url}`]) {
      const client = await connectRedis(each);
      const error: unknown = await client.run(SCRIPT, 'key', []).catch((caught: unknown) => caught);
      client.disconnect();
      expect(error).toMatchObject({ message: expect.stringContaining(refusal) });
      expect(inspect(error, { depth: null })).not.toContain('a-secret');
    }
  });
});
