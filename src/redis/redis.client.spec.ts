import tls, { type ConnectionOptions } from 'node:tls';
import { connectRedis, RedisClient } from './redis.client.js';

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
});
